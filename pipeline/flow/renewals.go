package flow

import (
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/refresh"
)

// renewal is a stored answer that is asked again.
type renewal struct {
	choice *refresh.Choice
	stored answers.Outcome
}

// renews reports whether a task with a stored outcome asks again.
func (r *run) renews(t *task, stored answers.Outcome) bool {
	if r.options.Refresh == nil {
		return false
	}
	choice, ok := r.options.Refresh.Take(t.Request, stored)
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
		r.options.Refresh.Count(n.choice, changed)
		r.Counters.AskedAgain.Add(1)
		if changed {
			r.Counters.Changed.Add(1)
		}
	}
	if renewals {
		r.options.Refresh.Save(batch, time.Now())
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
