package account

import "time"

// JournalLine is a line of a journal, without secrets.
type JournalLine struct {
	At    time.Time    `json:"at"`
	Event JournalEvent `json:"event"`

	// Of a start.
	Run     string `json:"run,omitempty"` // see Account.RunID
	Bulkcat string `json:"bulkcat,omitempty"`
	PID     int    `json:"pid,omitempty"`

	FinishBy *FinishBy `json:"finish_by,omitempty"`

	// Of counts and of an end. The counts are those of the start so far.
	State    State     `json:"state,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Records  int64     `json:"records,omitempty"` // with a status
	Requests int64     `json:"requests,omitempty"`
	Retries  int64     `json:"retries,omitempty"`
	Shared   int64     `json:"shared,omitempty"`
	Rechecks int64     `json:"rechecks,omitempty"`
	Outcomes Attempts  `json:"outcomes,omitempty"`

	WithOutcome int64  `json:"requests_with_outcome,omitempty"` // see Counts
	Ending      Ending `json:"ending,omitempty"`
}

// JournalEvent is the kind of a line of a journal.
type JournalEvent string

// The events of a journal.
const (
	JournalStart  JournalEvent = "start"
	JournalCounts JournalEvent = "counts"
	JournalEnd    JournalEvent = "end"
)

// Span is a part of the time of a run, with the counts of that time.
type Span struct {
	Start    int       `json:"start"` // the number of the start of the run, from 1
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	State    State     `json:"state"`
	Records  int64     `json:"records"`
	Requests int64     `json:"requests"`
	Outcomes Attempts  `json:"outcomes,omitempty"`
	Ending   Ending    `json:"ending,omitempty"` // if the start ended here
}

// Join adds the next span. The state becomes that of the longer span.
func (s *Span) Join(next Span) {
	if next.To.Sub(next.From) > s.To.Sub(s.From) {
		s.State = next.State
	}
	s.To, s.Ending = next.To, next.Ending
	s.Records += next.Records
	s.Requests += next.Requests
	s.Outcomes.Add(next.Outcomes)
}
