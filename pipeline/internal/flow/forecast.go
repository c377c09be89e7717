package flow

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/internal/selection"
	"github.com/bulkcat/bulkcat/writer"
)

// Forecast says what a run would do.
type Forecast struct {
	Records  int64 `json:"records"`         // read
	Invalid  int64 `json:"invalid"`         // records that cannot be asked
	Blank    int64 `json:"blank"`           // records without an input
	Distinct int64 `json:"distinct"`        // different requests
	Repeated int64 `json:"repeated"`        // requests that are saved because they equal an earlier one
	Answered int64 `json:"answered"`        // different requests whose outcome is stored
	Refresh  int64 `json:"refresh"`         // stored answers to be asked again
	Free     int64 `json:"free,omitempty"`  // requests that a model answers for nothing
	AtRisk   int64 `json:"-"`               // of Free, those that are asked if the audit fails
	Audit    int64 `json:"audit,omitempty"` // requests that the model would answer, and that are asked as a sample

	// Requests that a run by sites, hosts or domains saves, compared with a run by exact spellings.
	Saved         int64 `json:"saved"`
	SavedByHost   int64 `json:"saved_by_host"`
	SavedByDomain int64 `json:"saved_by_domain"`

	Column  string   `json:"column,omitempty"`         // the input columns, several with a comma between; "" for none
	Guessed bool     `json:"column_guessed,omitempty"` // other columns fit as well
	Inputs  []string `json:"inputs"`                   // of the first records, at most FirstInputs

	Digest  string       `json:"-"` // equal for equal sets of different requests
	Quota   client.Usage `json:"-"` // what the API key may still ask; zero if the service does not say
	Rate    float64      `json:"-"` // requests a second, as stated or learned; 0 if unknown
	Learned bool         `json:"-"` // Rate is what an earlier run has learned

	// Of a run that was started before.
	Paid   int64          `json:"-"` // of Answered: requests that the run has asked itself
	Limits limits.Options `json:"-"` // with the requests that the run has made
	By     time.Time      `json:"-"` // its deadline; zero for none
}

// FirstInputs is the number of inputs of a forecast: enough to see what would be asked.
const FirstInputs = 10

// ToAsk is how many requests the run would make, without retries.
func (f Forecast) ToAsk() int64 { return f.Distinct - f.Answered + f.Refresh - f.Free }

// IfAuditFails is the forecast of a run whose audit of the free answers fails at each threshold.
func (f Forecast) IfAuditFails() Forecast {
	f.Free, f.AtRisk = f.Free-f.AtRisk, 0
	return f
}

// Add adds the figures of another run. An input of both runs counts for each: the first run asks, and the second finds
// the stored answer if the store is the same. The digest, the quota and the rate stay.
func (f *Forecast) Add(other Forecast) {
	f.Records += other.Records
	f.Invalid += other.Invalid
	f.Blank += other.Blank
	f.Distinct += other.Distinct
	f.Repeated += other.Repeated
	f.Answered += other.Answered
	f.Refresh += other.Refresh
	f.Free += other.Free
	f.AtRisk += other.AtRisk
	f.Audit += other.Audit
	f.Saved += other.Saved
	f.SavedByHost += other.SavedByHost
	f.SavedByDomain += other.SavedByDomain
	f.Paid += other.Paid
}

// NewForecast reads the whole input and asks nothing. Equal inputs are counted exactly, in temporary files. The requests
// that the run would make are offered in batches, after they were looked up, some several times; offer may be nil, and its
// error ends the forecast.
func NewForecast(ctx context.Context, parts Parts, options Options, offer func([]answers.Query) error) (Forecast, error) {
	f := Forecast{Inputs: []string{}}
	parts = parts.withDefaults()
	distinct := newDistinct()
	defer distinct.close()
	mode := exactly << len(selection.Merges(options.Requested, options.Kind))
	batch := forecasts{parts: parts, normalizer: selection.Normalizer(options.Requested), distinct: distinct, mode: mode, offer: offer}
	split := selection.NewSplitter(options.Shard, options.Kind, options.Requested)
	source := selection.Sample(ctx, options.Requested, parts.Source, &parts.Counters.Others)
	for all := int64(0); options.Limit == 0 || all < options.Limit; all++ {
		if ctx.Err() != nil {
			return f, errInterrupted
		}
		record, err := source.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return f, err
		}
		if !split.Holds(&record) {
			continue
		}
		f.Records++
		if len(f.Inputs) < FirstInputs && record.Err == nil {
			f.Inputs = append(f.Inputs, strings.Clone(record.Input))
		}
		parts.Counters.Read.Add(1)
		request, err := options.request(record.Input, 0)
		if err := cmp.Or(record.Err, err); err != nil {
			if StatusOf(err) == writer.StatusBlank {
				f.Blank++
			} else {
				f.Invalid++
			}
			continue
		}
		for _, c := range options.Classifications {
			request.Classification = c.Name
			if err := batch.add(request); err != nil {
				return f, err
			}
		}
	}
	if err := batch.flush(); err != nil {
		return f, err
	}
	tally, err := distinct.count()
	if err != nil {
		return f, err
	}
	f.Repeated = (f.Records-f.Invalid-f.Blank)*int64(len(options.Classifications)) - tally.of(mode)
	f.Distinct, f.Answered = tally.of(mode), tally.of(mode|answered)
	f.Digest = tally.digest(mode)
	saves := func(mode use) int64 { return tally.toAsk(exactly) - tally.toAsk(mode) }
	f.Saved, f.SavedByHost, f.SavedByDomain = saves(bySite), saves(byHost), saves(byDomain)
	return f, nil
}

// forecasts looks up requests in batches.
type forecasts struct {
	parts      Parts
	normalizer normalize.Normalizer
	distinct   distinct
	mode       use                         // of the run
	offer      func([]answers.Query) error // may be nil
	queries    []answers.Query
	uses       []use           // of the queries
	steps      []answers.Query // to which they lead in the next mode
	made       []answers.Query // by the run
}

func (b *forecasts) add(r client.Request) error {
	b.queries = append(b.queries, answers.Query{Request: r})
	if len(b.queries) < lookupBatch {
		return nil
	}
	return b.flush()
}

// flush counts the requests that a run makes in each mode of dedupe: see lookups.merge.
func (b *forecasts) flush() error {
	b.made, b.uses = b.made[:0], b.uses[:0]
	left := b.queries // those that may still lead to others, with their uses
	for range left {
		b.uses = append(b.uses, exactly)
	}
	if err := b.parts.lookUpAll(left); err != nil {
		return err
	}
	for i, step := range b.normalizer.Coarser() {
		mode, same := exactly<<(i+1), 0
		b.steps = b.steps[:0]
		for j, q := range left {
			next, u := step(q.Request), b.uses[j]
			if !q.Stored && next == q.Request {
				left[same], b.uses[same] = q, u|mode
				same++
				continue
			}
			if q.Stored { // all modes after this one stay with it
				u |= answered - mode
			} else {
				b.steps = append(b.steps, answers.Query{Request: next})
			}
			if err := b.count(q, u); err != nil {
				return err
			}
		}
		if err := b.parts.lookUpAll(b.steps); err != nil {
			return err
		}
		left, b.uses = append(left[:same], b.steps...), b.uses[:same]
		for range b.steps {
			b.uses = append(b.uses, mode)
		}
	}
	for j, q := range left {
		if err := b.count(q, b.uses[j]); err != nil {
			return err
		}
	}
	b.queries = b.queries[:0]
	if b.offer == nil {
		return nil
	}
	return b.offer(b.made)
}

func (b *forecasts) count(q answers.Query, u use) error {
	if u&b.mode != 0 {
		b.made = append(b.made, q)
	}
	if q.Found {
		u |= answered
	}
	return b.distinct.add(q.Request.Classification+"\x00"+q.Request.Input, u)
}
