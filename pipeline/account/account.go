package account

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
)

// Account is the report of a start of a run: its inputs, counts and outputs. The file of an account is beside the output,
// and contains no secrets.
type Account struct {
	Format   int         `json:"format"` // of this file; 1
	Bulkcat  string      `json:"bulkcat"`
	Settings Settings    `json:"settings"`
	Service  string      `json:"service"`
	Store    string      `json:"store,omitempty"` // the file of the stored answers; "" if there is none
	Started  time.Time   `json:"started"`
	Ended    time.Time   `json:"ended"`
	Ending   Ending      `json:"ending"`
	Error    string      `json:"error,omitempty"`
	Counts   Snapshot    `json:"counts"`
	Saved    int64       `json:"saved,omitempty"` // requests that the run did not need: see SavedBy
	Cost     *money.Cost `json:"cost,omitempty"`  // nil without a price
	Rates    Rates       `json:"rates"`
	Inputs   []Input     `json:"inputs"`
	Reading  Reading     `json:"reading,omitzero"`
	Changed  []string    `json:"changed_inputs,omitempty"` // inputs that have changed since the last start: see runfiles.ChangedInputs
	Outputs  []Output    `json:"outputs"`
	Carried  []Carried   `json:"carried_columns,omitempty"`

	Expectations []Expected `json:"expectations,omitempty"` // of the output; empty if none were checked

	Models []Model `json:"models,omitempty"` // the models that answer, including the model of the free answers
	Free   *Audit  `json:"free,omitempty"`   // of the free answers, which a model gives in place of a hosted service; nil for none

	FinishBy *FinishBy `json:"finish_by,omitempty"` // nil without a deadline

	StatusFile string `json:"status_file,omitempty"` // the file of the Status during the run
	Timeline   []Span `json:"timeline,omitempty"`    // of all starts that have ended

	Earlier []EarlierRun `json:"earlier,omitempty"` // earlier starts of the same run, the first start first

	Published *Account `json:"published,omitempty"` // of the present rows, if an earlier start has written them; else nil

	Checksum string `json:"checksum"` // SHA-256 of the other members, in hex

	Price money.Price `json:"-"` // of a request, during the run; zero if unknown
}

// Rates are averages over the whole time of a run.
type Rates struct {
	Records  float64 `json:"records_per_second"`
	Requests float64 `json:"requests_per_second"`
}

// EarlierRun is the part of an account that the accounts of later starts keep. The counts of a killed start come from its
// journal, which has the attempts and their outcomes, retries, shared and repeated requests, and requests with an outcome.
type EarlierRun struct {
	Bulkcat string      `json:"bulkcat"`
	Started time.Time   `json:"started"`
	Ended   time.Time   `json:"ended"`
	Ending  Ending      `json:"ending"`
	Error   string      `json:"error,omitempty"`
	Counts  Snapshot    `json:"counts"`
	Cost    *money.Cost `json:"cost,omitempty"`

	FinishBy *FinishBy `json:"finish_by,omitempty"`
}

// Expected is an expectation of an output, such as "ok >= 95%", and the value in the output.
type Expected struct {
	Expectation string `json:"expectation"`
	Value       string `json:"value"`
	Met         bool   `json:"met"`
}

// Input is a file that was read.
type Input struct {
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"`   // relative to the folder of the output
	Bytes  int64  `json:"bytes"`            // read, from the beginning
	SHA256 string `json:"sha256,omitempty"` // of those bytes
	Whole  bool   `json:"whole"`            // read to its end

	Guessed  string `json:"guessed_column,omitempty"` // the input column, if the user named none and other columns also have usual names, or have the same name
	Comments int64  `json:"comments,omitempty"`       // lines that are no inputs
}

// Reading has the options of package reader that the user has given for the inputs. The zero value is the default.
type Reading struct {
	Format   string `json:"format,omitempty"`
	Sheet    string `json:"sheet,omitempty"`
	Dialect  string `json:"dialect,omitempty"`
	Encoding string `json:"encoding,omitempty"`
}

// Output is a file that was published: a writer.File.
type Output struct {
	Path        string `json:"name"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"` // in hex
	Rows        int64  `json:"rows"`
	FirstRecord int64  `json:"first_record"`
	LastRecord  int64  `json:"last_record"`
}

// Carried is a carried column in the output. In CSV the values are the text of the type.
type Carried struct {
	Name string `json:"name"`
	Type string `json:"type"` // the name of a writer.ValueType
}

const accountFormat = 1

// EmbeddedService begins the names of the embedded service; the fingerprints of its taxonomies and models follow.
const EmbeddedService = "embedded"

// IsEmbedded reports whether a service is the embedded service.
func IsEmbedded(service string) bool { return strings.HasPrefix(service, EmbeddedService) }

// NewAccount makes the account of a run that starts now.
func NewAccount(bulkcat, service string, settings Settings) *Account {
	return &Account{
		Format: accountFormat, Bulkcat: bulkcat, Service: service, Settings: settings,
		Started: time.Now().UTC(), Inputs: []Input{}, Outputs: []Output{},
	}
}

// Finish completes the account with the results of a run; err is nil if the run is complete.
func (a *Account) Finish(ending Ending, err error, counts Snapshot, outputs []Output) {
	a.Ended, a.Counts, a.Saved, a.Cost = time.Now().UTC(), counts, a.SavedBy(counts), a.CostOf(counts)
	if seconds := a.Ended.Sub(a.Started).Seconds(); seconds > 0 {
		a.Rates = Rates{perSecond(counts.SettledNow(), seconds), perSecond(counts.Requests, seconds)}
	}
	a.Ending = ending
	if err != nil {
		a.Error = err.Error()
	}
	a.Outputs = append(a.Outputs, outputs...)
}

// perSecond returns a rate, rounded to tenths: finer digits change from run to run.
func perSecond(n int64, seconds float64) float64 { return math.Round(float64(n)/seconds*10) / 10 }

// Follow adds the starts in the account last, if last is an account of the same run. It reports whether it is.
func (a *Account) Follow(last *Account) bool {
	if last == nil || len(last.Changes(a.Service, a.Settings)) > 0 {
		return false
	}
	a.Timeline = last.Timeline
	a.Earlier = append(slices.Clone(last.Earlier), EarlierRun{
		Bulkcat: last.Bulkcat, Started: last.Started, Ended: last.Ended,
		Ending: last.Ending, Error: last.Error, Counts: last.Counts, Cost: last.Cost, FinishBy: last.FinishBy,
	})
	return true
}

// AddStarts adds the starts that left no account: see runfiles.ReadStarts.
func (a *Account) AddStarts(starts []EarlierRun) {
	for _, start := range starts {
		if !slices.ContainsFunc(a.Earlier, func(e EarlierRun) bool { return e.Started.Equal(start.Started) }) {
			a.Earlier = append(a.Earlier, start)
		}
	}
	slices.SortStableFunc(a.Earlier, func(a, b EarlierRun) int { return a.Started.Compare(b.Started) })
}

// Records is the number of records with rows in the output.
func (a *Account) Records() int64 { return a.ofOutput().Written }

// Outcomes is the number of records in the output with an outcome of the service, each once for each classification.
func (a *Account) Outcomes() int64 {
	c := a.ofOutput()
	return c.OK + c.Empty + c.Rejected
}

// OfRows returns the account of the start that has written the rows of the output: Published, or a if Published is nil. a may
// be nil.
func (a *Account) OfRows() *Account {
	if a == nil || a.Published == nil {
		return a
	}
	return a.Published
}

// HasRows reports whether the start of a has published rows. a may be nil.
func (a *Account) HasRows() bool { return a != nil && len(a.Outputs) > 0 }

// ofOutput returns the counts of the output, which are those of the last complete start; zero if no start was complete.
func (a *Account) ofOutput() Snapshot {
	a = a.OfRows()
	if a.Ending == Complete {
		return a.Counts
	}
	for _, run := range slices.Backward(a.Earlier) {
		if run.Ending == Complete {
			return run.Counts
		}
	}
	return Snapshot{}
}

func (a *Account) format() (known int, found *int) { return accountFormat, &a.Format }
func (a *Account) checksum() *string               { return &a.Checksum }

// Model describes a model that answers.
type Model struct {
	Classification string `json:"classification"`
	Fingerprint    string `json:"fingerprint"`
	Labels         int    `json:"labels"`     // labelled inputs from which the model was learned
	Categories     int    `json:"categories"` // different labels of the inputs

	// The shares of the inputs whose first answer is right: with a model learned from other inputs, and without a model.
	Right   float64         `json:"cross_validated_top_1"`
	Without float64         `json:"engine_top_1"`
	From    []ModelAccuracy `json:"by_confidence"` // by falling confidence
}

// ModelAccuracy is the share of the inputs whose first answer has at least a confidence, and the share of these answers that
// are right.
type ModelAccuracy struct {
	Confidence float64 `json:"confidence"`
	Inputs     float64 `json:"inputs"`
	Right      float64 `json:"right"`
}

// CostOf returns the cost of a run with the counts c in this start, which the account does not have yet; nil without a price.
func (a *Account) CostOf(c Snapshot) *money.Cost {
	if a.Price.Request == 0 {
		return nil
	}
	cost := &money.Cost{Price: a.Price, Spent: a.Price.Of(c.Paid()), Saved: a.Price.Of(a.SavedBy(c))}
	cost.Total = cost.Spent
	for run := range a.starts() {
		switch {
		case run.Cost == nil: // killed, or without a price
			cost.Total = cost.Total.Plus(a.Price.Of(run.Counts.Paid()))
		case run.Cost.Price.Currency == a.Price.Currency:
			cost.Total = cost.Total.Plus(run.Cost.Spent)
		}
	}
	return cost
}

// Paid is the number of attempts that cost something: an attempt that a gateway answers itself is free.
func (s Snapshot) Paid() int64 { return s.Requests - s.Shared }

// costOfShards returns the sum of the shards' costs; nil if a shard has no price, or if the prices differ.
func costOfShards(accounts []*Account) *money.Cost {
	var sum money.Cost
	for i, a := range accounts {
		if a.Cost == nil || i > 0 && a.Cost.Price != sum.Price {
			return nil
		}
		sum = money.Cost{Price: a.Cost.Price, Spent: sum.Spent.Plus(a.Cost.Spent), Total: sum.Total.Plus(a.Cost.Total), Saved: sum.Saved.Plus(a.Cost.Saved)}
	}
	return &sum
}
