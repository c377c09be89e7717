package pipeline

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// Status is how far a run is, for other programs, in the file of StatusPath. The file is replaced atomically each
// second and at each change of state, but not synced. When the run ends, the file stays, with the state Ended and
// the ending, so that a program that waits for the end needs no other file; the account has the details. The
// status of a killed process does not change any more: compare Updated with the clock. A status has no secrets.
type Status struct {
	Format  int       `json:"format"` // of this file; 1
	Output  string    `json:"output"`
	PID     int       `json:"pid"` // of the process that runs, or has run
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"`
	State   State     `json:"state"`
	Since   time.Time `json:"since"`
	Ending  Ending    `json:"ending,omitempty"` // when State is Ended

	Records    int64    `json:"records"`         // with a status
	Total      int64    `json:"total,omitempty"` // records of the input, estimated; 0 if unknown
	Unanswered int64    `json:"unanswered"`      // records without an answer, each once for each classification
	Requests   int64    `json:"requests"`
	Retries    int64    `json:"retries"`
	InFlight   int64    `json:"in_flight"`
	ToRetry    int64    `json:"to_retry"` // requests that wait for a retry
	Outcomes   Attempts `json:"outcomes"`

	RecordsPerSecond  float64    `json:"records_per_second"`
	RequestsPerSecond float64    `json:"requests_per_second"`          // with an outcome
	Allowed           float64    `json:"allowed_per_second,omitempty"` // requests, at present; 0 without a limit
	Quota             *int64     `json:"quota_left,omitempty"`         // nil if unknown
	SecondsLeft       float64    `json:"seconds_left,omitempty"`       // see Progress.Left; 0 if unknown
	Ends              *time.Time `json:"ends,omitempty"`               // Updated and SecondsLeft later
	Stop              Cause      `json:"stops_because_of,omitempty"`   // see Progress.Stop

	Details *Details `json:"details,omitempty"` // if SessionOptions.Details is set; not in the file
}

// newStatus makes the status of a start.
func newStatus(account *Account, p Progress, now time.Time) Status {
	s := Status{
		Format: 1, Output: account.Settings.Output, PID: os.Getpid(), Started: account.Started, Updated: now.UTC(),
		State: p.State, Since: p.Since.UTC(),
		Records: p.Counts.Settled(), Total: p.Total, Unanswered: p.Counts.Unanswered(),
		Requests: p.Counts.Requests, Retries: p.Counts.Retries, InFlight: p.Counts.InFlight, ToRetry: p.Counts.Parked,
		Outcomes:         p.Counts.Attempts,
		RecordsPerSecond: tenths(p.Rate), RequestsPerSecond: tenths(p.Requests), Stop: p.Stop,
	}
	if !math.IsInf(p.Allowed, 1) {
		s.Allowed = tenths(p.Allowed)
	}
	if p.Metered {
		s.Quota = &p.Quota
	}
	if p.Left > 0 {
		ends := s.Updated.Add(p.Left)
		s.SecondsLeft, s.Ends = tenths(p.Left.Seconds()), &ends
	}
	return s
}

func tenths(n float64) float64 { return math.Round(n*10) / 10 }

// write replaces the file at path. A program that reads the file meanwhile has the earlier or the new content.
func (s Status) write(path string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return writer.ReplaceFile(path, append(text, '\n'))
}

// checkStatus returns an error if the file at path is there and no status.
func checkStatus(path string) error {
	text, err := regular.Read(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s Status
	if err == nil && (json.Unmarshal(text, &s) != nil || s.Format == 0 || s.Updated.IsZero()) {
		err = errors.New("it is no status of bulkcat: move it elsewhere")
	}
	return err
}

// Status is how far the run is, as the file of StatusPath says, and with Details. It may be called from several
// goroutines and at any time: before the call of Watch the state is Starting, and after Run the status says how the run
// has ended.
func (s *Session) Status() Status {
	if final := s.final.Load(); final != nil {
		return *final
	}
	return s.status(s.Progress())
}

func (s *Session) status(p Progress) Status {
	var account *Account
	if p.State == Starting { // Run may be about to set the account
		account = s.newAccount()
		account.Started = s.opened.UTC()
	} else {
		account = s.account
	}
	status := newStatus(account, p, time.Now())
	if s.counters.details != nil {
		d := s.counters.details.list()
		d.Service, d.Settings = account.Service, account.Settings
		if p.State != Starting && s.limits != nil {
			d.Learned = s.limits.Learned().String()
		}
		for _, e := range account.Earlier {
			d.Earlier = append(d.Earlier, EarlierStart{e.Started, e.Ended, e.Ending, e.Counts.Requests})
		}
		status.Details = &d
	}
	return status
}

// ended is the progress at the end, and how the run ended. Err is the error of the run, its account included.
func (s *Session) ended(err error) (Progress, Ending) {
	account, ending := s.account, s.account.Ending
	if err != nil && ending == Complete {
		ending = Failed // to publish the account
	}
	p := Progress{State: Ended, Since: account.Ended, Counts: account.Counts, Total: s.total.Load(), Allowed: math.Inf(1)}
	if account.Ending == Complete {
		p.Total = p.Counts.Read
	}
	p.Quota, p.Metered = s.quota.last()
	return p, ending
}

// end sets the last status.
func (s *Session) end(err error) {
	p, ending := s.ended(err)
	status := s.status(p)
	status.Ending = ending
	s.final.Store(&status)
}
