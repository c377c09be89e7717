package ask

import (
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// Judge decides what an attempt without an answer says about its request and about the service, from what other attempts have
// shown.
//
// Another server may have rejected a request: see [client.Error.Astray]. One of several backends does so while it is replaced. Some
// services reject inputs in this way, too. So the request is repeated twice, after a while, until there is evidence:
// mostAgreed requests were rejected each time, and none was answered. If one was answered, all such rejections are failures that may pass.
//
// A service may refuse each first attempt, with 429 or 503, because it begins to compute the answer. Then a refusal says nothing
// about the rate. The evidence is that refused first attempts and answered retries alternate.
//
// The zero value has no evidence. It is safe for concurrent use.
type Judge struct {
	mu       sync.Mutex
	answered bool // the service answers
	agreed   int  // requests that were repeated, and rejected each time
	passes   bool // such a rejection has passed
	firsts   tally
	retries  tally // of refused requests
	refused  bool  // the last first attempt was refused, and no retry was answered since
	turns    int   // times that an answered retry followed a refused first attempt
}

const (
	mostAgreed = 5 // requests that show that the service rejects inputs in this way

	// astrayAttempts are the attempts of such a request. With two, half of the inputs that one of two backends rejects would be
	// rejected for good.
	astrayAttempts = 3

	// astrayWait is the time until a request that another server has rejected is repeated: about as long as a backend takes to start.
	astrayWait = 5 * time.Second

	// enoughTurns are more than the silences and bursts of a limiter explain, if it refuses first attempts and retries alike.
	enoughTurns = 5
	otherShare  = 0.2 // the largest share of answered first attempts, and of refused retries
)

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

// tally adds the outcome of an attempt that was answered or refused.
func (j *Judge) tally(a *Attempts, answered, refused int) {
	first := a.made == 1
	if first {
		j.firsts.add(answered, refused)
	} else {
		j.retries.add(answered, refused)
	}
	switch {
	case j.firsts.share(j.firsts.answered) > otherShare || j.retries.share(j.retries.refused) > otherShare:
		j.turns = 0
	case first:
		j.refused = j.refused || refused > 0
	case answered > 0 && j.refused:
		j.turns++
		j.refused = false
	}
}

// Answered records that a request was answered.
func (j *Judge) Answered(a *Attempts) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answered = true
	j.passes = j.passes || a.WentAstray()
	j.tally(a, 1, 0)
}

// Failed returns the error of an attempt, and the result of the attempt, as the evidence has it. The last of most attempts is judged
// by its error alone.
func (j *Judge) Failed(a *Attempts, e *client.Error, most int) (*client.Error, limits.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	result := ResultOf(client.Answer{}, e)
	switch {
	case e.Class == client.Rejected && e.Astray() && j.answered && a.Counted() < most:
		return j.rejected(a, e, result)
	case e.Refused():
		if j.tally(a, 0, 1); j.turns >= enoughTurns && a.made == 1 {
			return e.Deferred(), limits.Result{Signal: limits.Answered}
		}
	}
	return e, result
}

// rejected judges a rejection that another server may have sent.
func (j *Judge) rejected(a *Attempts, e *client.Error, result limits.Result) (*client.Error, limits.Result) {
	failure := *e
	failure.Class = client.Transient
	switch {
	case j.passes:
		return &failure, ResultOf(client.Answer{}, &failure)
	case a.WentAstray() && a.made >= astrayAttempts:
		j.agreed++
		return e, result
	case j.agreed >= mostAgreed:
		return e, result
	}
	return &failure, result // which is that of a rejection: perhaps the service works
}

// Pass records that a rejection which another server may have sent is not about its input.
func (j *Judge) Pass() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.passes = true
}

// WentAstray reports whether another server may have rejected the last attempt that failed.
func (a *Attempts) WentAstray() bool { return a.Last != nil && a.Last.Astray() }
