package pipeline

import (
	"math"
	"os"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/record"
)

// newStatus makes the status of a start.
func newStatus(account *record.Account, p Progress, now time.Time) record.Status {
	s := record.Status{
		Format: record.StatusFormat, Output: account.Settings.Output, PID: os.Getpid(), Started: account.Started, Updated: now.UTC(),
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

// Status is how far the run is, as the file of StatusPath says, and with Details. It may be called from several
// goroutines and at any time: before the call of Watch the state is Starting, and after Run the status says how the run
// has ended.
func (s *Session) Status() record.Status {
	if final := s.final.Load(); final != nil {
		return *final
	}
	return s.status(s.Progress())
}

func (s *Session) status(p Progress) record.Status {
	var account *record.Account
	if p.State == record.Starting { // Run may be about to set the account
		account = s.newAccount()
		account.Started = s.opened.UTC()
	} else {
		account = s.account
	}
	status := newStatus(account, p, time.Now())
	if d := s.counters.Details(); d != nil {
		d.Service, d.Settings = account.Service, account.Settings
		if p.State != record.Starting && s.limits != nil {
			d.Learned = s.limits.Learned().String()
		}
		for _, e := range account.Earlier {
			d.Earlier = append(d.Earlier, record.EarlierStart{Started: e.Started, Ended: e.Ended, Ending: e.Ending, Requests: e.Counts.Requests})
		}
		status.Details = d
	}
	return status
}

// ended is the progress at the end, and how the run ended. Err is the error of the run, its account included.
func (s *Session) ended(err error) (Progress, record.Ending) {
	account, ending := s.account, s.account.Ending
	if err != nil && ending == record.Complete {
		ending = record.Failed // to publish the account
	}
	p := Progress{State: record.Ended, Since: account.Ended, Counts: account.Counts, Total: s.total.Load(), Allowed: math.Inf(1)}
	if account.Ending == record.Complete {
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
