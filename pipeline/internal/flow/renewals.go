package flow

import (
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/internal/refresh"
)

// renews reports whether a task with a stored outcome asks again.
func (r *run) renews(t *task, stored answers.Outcome) bool {
	if !r.options.Refresh.Take(t.Request, stored) {
		return false
	}
	t.renewal = &renewal{stored}
	return true
}

// renewal is a stored answer that is asked again.
type renewal struct{ stored answers.Outcome }

// asked returns the time when the stored answer was asked; zero for nil.
func (n *renewal) asked() time.Time {
	if n == nil {
		return time.Time{}
	}
	return n.stored.AskedAt()
}

// countRenewals counts the outcomes of a batch that renew stored answers.
func (r *run) countRenewals(batch *answers.Batch, group []*task) {
	renewals := int64(0)
	for _, t := range group {
		n := t.renewal
		if n == nil {
			continue
		}
		renewals++
		if same, _ := refresh.Same(n.stored.Answer, t.answer); t.err != nil || !same {
			r.Counters.Changed.Add(1)
		}
	}
	if renewals > 0 {
		r.Counters.AskedAgain.Add(renewals)
		r.options.Refresh.Count(batch, renewals)
	}
}

// outcome returns the outcome to store for a task; n may be nil. If the new answer has the same rows as the stored answer, the
// outcome keeps the time of the stored answer, so that no row changes.
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
