package pipeline

import (
	"context"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/refresh"
	"github.com/bulkcat/bulkcat/reader"
)

// renewal is a stored answer that is asked again.
type renewal struct {
	choice *refresh.Choice
	stored answers.Outcome
}

// startRefresh chooses the stored answers to be asked again, in a further pass over the input. It gives nil
// if there are none to choose.
func (s *Session) startRefresh(ctx context.Context, store *answers.Store, options Options, run string) (*refresh.Refresh, error) {
	budget := s.options.Store.RefreshBudget
	if budget == 0 || store == nil || options.Offline {
		return nil, nil
	}
	input, err := reader.Open(inputsAgain(s.options.Input))
	if err != nil {
		return nil, err
	}
	defer input.Close() // only read from
	r, err := refresh.Begin(store, run, budget, time.Now())
	if err != nil {
		return nil, err
	}
	if _, err := forecast(ctx, Parts{Source: input, Store: store}, options, r.Offer); err != nil {
		return nil, err
	}
	chosen := r.Choose()
	s.options.Log.Info("stored answers are asked again", "answers", chosen)
	return r, r.Start(store)
}

// renews reports whether a task with a stored outcome asks again.
func (r *run) renews(t *task, stored answers.Outcome) bool {
	if r.options.refresh == nil {
		return false
	}
	choice, ok := r.options.refresh.Take(t.Request, stored)
	if ok {
		t.renewal = &renewal{choice, stored}
	}
	return ok
}

// countRenewals counts the outcomes of a batch that renew stored answers.
func (r *run) countRenewals(batch *answers.Batch, group []*task) {
	renewals := false
	for _, t := range group {
		n := t.renewal
		if n == nil {
			continue
		}
		renewals = true
		same, _ := refresh.Same(n.stored.Answer, t.answer)
		changed := t.err != nil || !same
		r.options.refresh.Count(n.choice, changed)
		r.Counters.AskedAgain.Add(1)
		if changed {
			r.Counters.Changed.Add(1)
		}
	}
	if renewals {
		r.options.refresh.Save(batch, time.Now())
	}
}

// outcome is what is stored of a task; n may be nil. A new answer with the rows of the stored answer keeps the
// time of the stored answer, so that no row changes.
func (n *renewal) outcome(t *task) answers.Outcome {
	o := outcome(t)
	if n == nil || o.Rejection != nil {
		return o
	}
	if _, same := refresh.Same(n.stored.Answer, t.answer); same {
		o.ConfirmedAt = t.answer.AnsweredAt
		t.answer.AnsweredAt = n.stored.Answer.AnsweredAt
		o.Answer.AnsweredAt = t.answer.AnsweredAt
	}
	return o
}

// keepStored gives a task its stored answer if no new answer was stored.
func (t *task) keepStored() {
	if n := t.renewal; n != nil {
		t.answer, t.err, t.recalled, t.renewal = n.stored.Answer, nil, true, nil
	}
}
