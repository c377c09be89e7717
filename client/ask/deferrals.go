package ask

import (
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// deferrals is the evidence about a service that refuses each first attempt, with 429 or 503, because it begins to compute the
// answer. Then a refusal says nothing about the rate. The evidence is that refused first attempts and answered retries alternate:
// a limiter refuses first attempts and retries alike.
type deferrals struct {
	firsts  tally
	retries tally
	pending bool          // a first attempt was refused, and no retry was answered since
	turns   int           // times that an answered retry followed a refused first attempt
	longest time.Duration // the longest wait that a refusal stated whose retry was answered
}

const (
	enoughTurns = 5   // more than the silences and bursts of a limiter explain
	otherShare  = 0.2 // the largest share of answered first attempts, and of refused retries
)

// answered records that a request was answered.
func (d *deferrals) answered(a *Attempts) {
	if a.made == 1 {
		d.firsts.add(1, 0)
		d.check()
		return
	}
	d.retries.add(1, 0)
	if a.Last != nil {
		d.longest = max(d.longest, a.Last.RetryAfter)
	}
	if d.check() && d.pending {
		d.turns++
		d.pending = false
	}
}

// refused records a refusal, and reports whether the service computes the answer. A limit is likelier if the stated wait is longer
// than usual.
func (d *deferrals) refused(a *Attempts, e *client.Error) bool {
	if a.made > 1 {
		d.retries.add(0, 1)
		d.check()
		return false
	}
	d.firsts.add(0, 1)
	d.pending = d.check() || d.pending
	return d.turns >= enoughTurns && e.RetryAfter <= d.longest
}

// check reports whether nearly all first attempts are refused and nearly all retries are answered; else it forgets the turns.
func (d *deferrals) check() bool {
	if d.firsts.share(d.firsts.answered) <= otherShare && d.retries.share(d.retries.refused) <= otherShare {
		return true
	}
	d.turns = 0
	return false
}

// tally counts the latest outcomes of attempts.
type tally struct{ answered, refused int }

// mostTallied is the number of outcomes after which a tally is halved.
const mostTallied = 64

func (t *tally) add(answered, refused int) {
	t.answered += answered
	t.refused += refused
	if t.answered+t.refused > mostTallied {
		t.answered, t.refused = t.answered/2, t.refused/2
	}
}

// share returns the share of n of the outcomes; 0 if there are none.
func (t *tally) share(n int) float64 { return float64(n) / max(1, float64(t.answered+t.refused)) }
