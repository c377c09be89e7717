package account

import (
	"math"
	"slices"
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
	Changed  []string    `json:"changed_inputs,omitempty"` // whose beginning is not what the last run has read
	Outputs  []Output    `json:"outputs"`
	Carried  []Carried   `json:"carried_columns,omitempty"`

	Expectations []Expected `json:"expectations,omitempty"` // of the output; empty if none were checked

	Models []Model `json:"models,omitempty"` // that answer, those of the free answers too
	Free   *Audit  `json:"free,omitempty"`   // of the answers that a model gives in place of a hosted service; nil for none

	FinishBy *FinishBy `json:"finish_by,omitempty"` // nil without a deadline

	StatusFile string `json:"status_file,omitempty"` // says how far the run is while it goes on: see Status
	Timeline   []Span `json:"timeline,omitempty"`    // of all starts that have ended

	Earlier []EarlierRun `json:"earlier,omitempty"` // earlier starts of the same run, the first start first

	Published *Account `json:"published,omitempty"` // of the rows that are there, if this start has left those of an earlier one

	Checksum string `json:"checksum"` // SHA-256 of the other members, in hex

	Price money.Price `json:"-"` // of a request, while the run goes on; zero if unknown
}

// Rates are averages over the whole time of a run.
type Rates struct {
	Records  float64 `json:"records_per_second"`
	Requests float64 `json:"requests_per_second"`
}

// EarlierRun is the part of an account that is kept when the run is started again. The counts of a killed
// process are those that its journal has: requests, retries, repeated requests and outcomes.
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

// Expected is an expectation of an output, such as "ok >= 95%", and what the output has.
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

	Guessed  string `json:"guessed_column,omitempty"` // the input column, if others have its name, or also usual names and the user has named none
	Comments int64  `json:"comments,omitempty"`       // lines that are no inputs
}

// Reading says how a run has read its inputs, as far as the user has said so: the options of package reader. The zero value
// is the default.
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

// perSecond is rounded to tenths: finer digits change from run to run.
func perSecond(n int64, seconds float64) float64 { return math.Round(float64(n)/seconds*10) / 10 }

// Follow adds the earlier starts of the same run, whose requests add up. It reports whether last was the
// same run.
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

// AddStarts adds the starts that left no account: see Journal.
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

// OfRows is the account of the start that has written the rows of the output: Published, or else a, which may be nil.
func (a *Account) OfRows() *Account {
	if a == nil || a.Published == nil {
		return a
	}
	return a.Published
}

// HasRows reports whether a, which may be nil, is the account of rows that were published.
func (a *Account) HasRows() bool { return a != nil && len(a.Outputs) > 0 }

// ofOutput gives the counts of the output, which are those of the last start that was complete; zero if none was.
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

// Model is what a model with which the embedded service answers says of itself.
type Model struct {
	Classification string `json:"classification"`
	Fingerprint    string `json:"fingerprint"`
	Labels         int    `json:"labels"`     // inputs that it is made of
	Categories     int    `json:"categories"` // different labels of these

	// The shares of right first answers to these inputs, each by a model of other inputs, and without a model.
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

// CostOf is the cost of a run with so many counts in this start, which is not yet in the account; nil if there is no price.
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

// Paid is the number of attempts that cost something: what a gateway has already is free.
func (s Snapshot) Paid() int64 { return s.Requests - s.Shared }

// costOfShards is the sum of what shards cost; nil if one has no price, or if the prices differ.
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
