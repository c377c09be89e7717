package ask

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// trial is a Judge of a service in synthetic time, which answers other requests unless it is silent.
type trial struct {
	Judge
	now    time.Time
	policy client.RetryPolicy
	silent bool
}

func newTrial() *trial {
	j := &trial{now: start, policy: client.DefaultRetryPolicy()}
	j.Works(start)
	return j
}

// ask asks until the request is answered or rejected, or its attempts are used up. responses are those of the first attempts, and the
// last one is repeated; nil is an answer. It returns the last response, as judged, and the number of attempts.
func (j *trial) ask(responses ...*client.Error) (last *client.Error, attempts int) {
	a := new(Attempts)
	for {
		e := responses[min(attempts, len(responses)-1)]
		attempts++
		j.now = j.now.Add(astrayWait)
		if !j.silent {
			j.Works(j.now)
		}
		a.Begin(j.now)
		if e == nil {
			j.Answered(a)
			return nil, attempts
		}
		e, _ = j.Failed(a, e, j.policy)
		if e.Class == client.Rejected {
			return e, attempts
		}
		if a.Fail(j.now, e, j.policy); a.spent {
			return e, attempts
		}
	}
}

func (j *trial) want(t *testing.T, name string, attempts int, rejected bool, responses ...*client.Error) {
	t.Helper()
	if last, n := j.ask(responses...); n != attempts || (last != nil && last.Class == client.Rejected) != rejected {
		t.Errorf("%s: %d attempts, then %v; want %d, rejected: %t", name, n, last, attempts, rejected)
	}
}

var page = &client.Error{Class: client.Rejected, Status: 404, Page: true}

// A rejection that another server may have sent is repeated as the evidence has it, and no evidence holds for ever.
func TestEvidenceOfRejections(t *testing.T) {
	j := newTrial()
	for range mostAgreed {
		j.want(t, "no evidence", astrayAttempts, true, page)
	}
	all := 0
	for range 3 * checkEvery {
		_, n := j.ask(page)
		all += n
	}
	if repeated := all - 3*checkEvery; repeated != 3 {
		t.Errorf("the service rejects inputs in this way: %d repeated", repeated)
	}
	for passed := 0; !j.astray.passes; passed++ {
		if j.ask(page, nil); passed > checkEvery {
			t.Fatal("no request is repeated any more")
		}
	}
	for range mostAgreed {
		j.want(t, "one has passed", j.policy.MaxAttempts, true, page)
	}
	j.want(t, "none has passed for long", 1, true, page)
}

// Everything is rejected: that is no evidence.
func TestRejectionsInSilence(t *testing.T) {
	j := newTrial()
	j.silent = true
	for range 2 * mostAgreed {
		j.want(t, "in silence", astrayAttempts, true, page)
	}
	a := &Attempts{Sent: j.now, strays: 1, strayed: j.now}
	if j.IsSure(a, page) || !j.IsSure(a, &client.Error{Class: client.Rejected, Status: 422}) {
		t.Error("only rejections by another server are in doubt")
	}
	if j.Works(j.now.Add(time.Second)); !j.IsSure(a, page) {
		t.Error("the service works")
	}
}

// Attempts that do not count do not replace repetitions.
func TestRepetitionsAfterRefusals(t *testing.T) {
	refused := make([]*client.Error, 9)
	for i := range refused {
		refused[i] = refusal
	}
	newTrial().want(t, "refusals", len(refused)+2, false, append(refused, page, nil)...)
}

// The refusal of a first attempt whose answer is being computed does not count as an attempt.
func TestDeferredAttempts(t *testing.T) {
	j := newTrial()
	j.policy.MaxAttempts = 1
	for range 4 * enoughTurns {
		j.want(t, "deferred", 2, false, refusal, nil)
	}
	if j.deferrals.turns < enoughTurns {
		t.Errorf("%d turns", j.deferrals.turns)
	}
	long := *refusal
	long.RetryAfter = time.Minute
	if e, _ := j.Failed(&Attempts{made: 1}, &long, j.policy); e.IsDeferred() {
		t.Error("a wait that is longer than usual is a limit")
	}
}
