package pipeline

import (
	"math"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/progress"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// Progress says how far the run is. It may be called from several goroutines and at any time; before the call of Watch
// the state is Starting. The rates are measured from call to call. During a run that asks, the service is asked for the
// quota each minute, in the background.
func (s *Session) Progress() Progress {
	if !s.asking.Load() {
		return Progress{State: record.Starting, Since: s.opened, Counts: s.counters.Snapshot(), Allowed: math.Inf(1)}
	}
	read, total := s.input.Load().Progress()
	status := s.limits.Status()
	p := Progress{Counts: s.counters.Snapshot(), Allowed: status.Rate}
	p.Cost = s.account.CostOf(p.Counts)
	p.Quota, p.Metered = s.quota.Left(!s.options.Offline || s.options.Service.Free) // a run that asks nothing asks for no quota either
	p.State = progress.StateOf(status, p.Counts.Finishing)
	p.Total, p.About = s.total.Of(&p.Counts, read, total, s.options.Limit)
	if s.options.Sample > 0 && p.Counts.Others > 0 { // the sample is drawn
		p.Total, p.About = s.options.Sample, false
	}
	p.Waits(status, s.counters.LastError.Load(), s.options.Limits.MaxOutage)
	s.estimator.Estimate(&p, time.Now(), status, progress.Bounds{Limits: s.options.Limits, FinishBy: s.finishBy()})
	p.Foresee()
	return p
}

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
	status := p.Status(account, time.Now())
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
	p := Progress{State: record.Ended, Since: account.Ended, Counts: account.Counts, Total: s.total.Last(), Allowed: math.Inf(1), Cost: account.Cost}
	if account.Ending == record.Complete {
		p.Total = p.Counts.Read
	}
	p.Quota, p.Metered = s.quota.Left(false)
	return p, ending
}

// end writes the end to the journal, and sets the last status.
func (s *Session) end(err error) {
	p, ending := s.ended(err)
	s.monitor.End(p, ending)
	status := s.status(p)
	status.Ending = ending
	s.final.Store(&status)
}
