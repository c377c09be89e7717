package account

import (
	"time"
)

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

// JournalEvent is what a line of a journal tells.
type JournalEvent string

// The events of a journal.
const (
	JournalStart  JournalEvent = "start"
	JournalCounts JournalEvent = "counts"
	JournalEnd    JournalEvent = "end"
)
