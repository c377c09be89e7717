package account

import (
	"time"

	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/writer/form"
)

// Status is the progress of a run, for other programs, in the file at runfiles.StatusPath. The file is replaced atomically each
// second and at each change of state, but not synced. It is removed at the end of the run, after the account is written;
// without an account it stays, with the state Ended and the ending. The status of a killed process no longer changes: compare
// Updated with the clock. A status has no secrets.
type Status struct {
	Format  int       `json:"format"` // of this file; 1
	Output  string    `json:"output"`
	PID     int       `json:"pid"` // of the process that runs, or has run
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"`
	State   State     `json:"state"`
	Since   time.Time `json:"since"`            // when State began; for an outage, when the service last answered
	Ending  Ending    `json:"ending,omitempty"` // when State is Ended

	Records    int64       `json:"records"`         // with a status
	Total      int64       `json:"total,omitempty"` // records of the input; 0 if unknown
	About      bool        `json:"-"`               // Total is estimated from the bytes read
	Blank      int64       `json:"blank"`           // records without an input, each once for each classification
	Unanswered int64       `json:"unanswered"`      // records without an answer, each once for each classification
	Free       int64       `json:"free,omitempty"`  // records that a model has answered for free
	Requests   int64       `json:"requests"`
	Retries    int64       `json:"retries"`
	InFlight   int64       `json:"in_flight"`
	ToRetry    int64       `json:"to_retry"` // requests that wait for a retry
	Outcomes   Attempts    `json:"outcomes"`
	Cost       *money.Cost `json:"cost,omitempty"` // nil without a price

	RecordsPerSecond  float64    `json:"records_per_second"`           // with a status, over the last minutes; 0 while the run waits
	RequestsPerSecond float64    `json:"requests_per_second"`          // with an outcome, over the last minutes; 0 while the run waits
	Allowed           float64    `json:"allowed_per_second,omitempty"` // the present limit of requests; 0 without a limit
	Quota             *int64     `json:"quota_left,omitempty"`         // nil if unknown
	SecondsLeft       float64    `json:"seconds_left,omitempty"`       // until the last request has an outcome, or until Stop; 0 if unknown
	Ends              *time.Time `json:"ends,omitempty"`               // Updated plus SecondsLeft
	Stop              Cause      `json:"stops_because_of,omitempty"`   // what will stop the run early: QuotaExhausted, Budget or Deadline

	CostAtEnd *money.Amount `json:"cost_at_end,omitempty"` // of the whole run, estimated; nil if unknown

	Cause  string     `json:"cause,omitempty"`        // in the states of Waits: the last error
	Next   *time.Time `json:"next_attempt,omitempty"` // in the states of Waits: the time of the next attempt
	GiveUp *time.Time `json:"gives_up,omitempty"`     // when an outage ends the run, unless the service answers before

	Details *Details `json:"details,omitempty"` // only with pipeline.Options.Details; not in the file
}

// StatusFormat is the format of the file.
const StatusFormat = 1

// Text is the content of the file.
func (s Status) Text() ([]byte, error) { return encode(s) }

// Details are further figures, for the live page of a run. They have no secrets.
type Details struct {
	Service    string          `json:"service"`
	Settings   Settings        `json:"settings"`
	Earlier    []EarlierStart  `json:"earlier,omitempty"` // starts of the same run, the first start first
	Attempts   Latency         `json:"attempt_seconds"`
	Categories []CategoryCount `json:"top_categories"` // the most frequent first levels of the best categories of records
	Confidence []int64         `json:"confidence"`     // records by the confidence of the best category: [0, 0.1), ..., [0.9, 1]
	Failures   []Failure       `json:"last_failures"`  // the newest first

	Learned string `json:"learned,omitempty"` // of the limits of the service, in words
}

// EarlierStart is a start of the same run that has ended.
type EarlierStart struct {
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	Ending   Ending    `json:"ending"`
	Requests int64     `json:"requests"`
}

// CategoryCount is how many records have a category.
type CategoryCount struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`
}

// Failure is a record that got no answer.
type Failure struct {
	At     time.Time   `json:"at"`
	File   string      `json:"file"`
	Line   int64       `json:"line"`
	Input  string      `json:"input"` // the first 200 bytes
	Status form.Status `json:"status"`
	Reason string      `json:"reason"`
}

// Latency is a histogram of durations.
type Latency struct {
	Bounds  []float64 `json:"bounds"` // upper, in seconds
	Counts  []int64   `json:"counts"` // one more than Bounds: the last count is that of longer durations
	Seconds float64   `json:"sum"`
}

// State is what a run is doing.
type State string

// The states of a run.
const (
	Starting   State = "starting" // nothing can be asked yet: for example, the store is being opened
	Asking     State = "asking"
	Congested  State = "congested"   // nothing has succeeded for a while, or the service asks to wait: one request is sent at a time
	Limited    State = "limited"     // the service refuses all requests for a while, and the run waits
	Outage     State = "outage"      // nothing succeeds, even with one request at a time
	QuotaPause State = "quota_pause" // the quota is used up, and the run waits
	Finishing  State = "finishing"   // no further request begins; outcomes are stored and rows written
	Ended      State = "ended"       // only in the journal and the status
)

// Waits are the states in which a run waits for the service.
var Waits = []State{Congested, Limited, Outage, QuotaPause}

// Cause is the reason for which a run stopped early. The run can be started again.
type Cause string

// The causes of a stop.
const (
	Interrupted    Cause = "interrupted" // the caller's context ended, or pipeline.Each returned an error
	QuotaExhausted Cause = "quota"       // the API key has no requests left
	Budget         Cause = "budget"      // the limits allow no more requests
	Deadline       Cause = "deadline"    // flow.Options.FinishBy has come
	OutageTooLong  Cause = "outage"      // the service was out for longer than the limits allow
	Expectation    Cause = "expectation" // it is clear that the output will not meet an expectation
)

// Ending says how a run ended: Complete, Failed, or the Cause of a stop.
type Ending string

// The endings that are not the Cause of a stop.
const (
	Complete Ending = "complete"
	Failed   Ending = "failed"
	Killed   Ending = "killed" // only of earlier runs: the process ended without an account
)
