package limits

import (
	"errors"
	"math"
	"testing"
	"time"
)

var errSome = errors.New("usage is out of order")

// next wants an action while first attempts wait, and gives the decision.
func (c *Controller) next(t *testing.T, now time.Time, want Action) Decision {
	t.Helper()
	d := c.Next(now, Queue{First: true})
	if d.Action != want {
		t.Fatalf("got %+v, want action %d", d, want)
	}
	return d
}

func newController(o Options) (*Controller, time.Time) {
	now := time.Unix(1_000_000, 0)
	return New(o, now), now
}

func TestMaxRequests(t *testing.T) {
	c, now := newController(Options{Rate: math.Inf(1), MaxRequests: 2})
	first := c.begin(now, true)
	now = now.Add(time.Second)
	second := c.begin(now, true)
	if d := c.next(t, now, Wait); d.For != 0 {
		t.Errorf("waits for %v, not for the requests in flight", d.For)
	}
	c.End(now, first, Result{Outcome: Answered})
	c.End(now, second, Result{Outcome: Unsent})
	third := c.next(t, now, SendFirst).Permit
	c.next(t, now, Wait)
	c.End(now, third, Result{Outcome: Answered})
	d := c.next(t, now, Stop)
	if spent, ok := errors.AsType[*SpentError](d.Err); !ok || spent.Limit != MaxRequests || d.Err.Error() != "--max-requests 2 is reached" {
		t.Errorf("got %v", d.Err)
	}
}

func TestReserve(t *testing.T) {
	for _, tt := range []struct {
		name    string
		account Account
		wait    bool
		want    Action
		text    string // of the error
	}{
		{"more is left", Account{Left: 101, Metered: true}, false, SendFirst, ""},
		{"the reserve is left", Account{Left: 100, Metered: true}, false, Stop, "--reserve 100 is reached"},
		{"the run waits", Account{Left: 100, Metered: true}, true, Wait, ""},
		{"unlimited", Account{}, false, SendFirst, ""},
		{"unknown for good", Account{Err: errSome}, false, Stop, "--reserve 100 cannot be kept to: the service does not say what is left: usage is out of order"},
		{"unknown for now", Account{Err: errSome, Passing: true}, false, Wait, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, now := newController(Options{KeepReserve: true, Reserve: 100, WaitForQuota: tt.wait})
			c.next(t, now, AskAccount)
			c.Told(now, tt.account)
			if d := c.next(t, now, tt.want); tt.text != "" && d.Err.Error() != tt.text {
				t.Errorf("got %v", d.Err)
			}
		})
	}
}

// A run that waits for its account asks after a minute, and then less often.
func TestWaitForQuota(t *testing.T) {
	c, now := newController(Options{WaitForQuota: true})
	p := c.begin(now, true)
	c.End(now, p, Result{Outcome: OutOfQuota})
	if !c.Exhausted(now) || c.Exhausted(now) {
		t.Error("the first time, and no other, is news")
	}
	for _, pause := range []time.Duration{1, 2, 4, 8, 10, 10} {
		if d := c.next(t, now, Wait); d.For != pause*time.Minute {
			t.Fatalf("waits for %v, want %v min", d.For, int(pause))
		}
		now = now.Add(pause * time.Minute)
		c.next(t, now, AskAccount)
		c.Told(now, Account{Left: 0, Metered: true})
	}
	now = now.Add(pollLast)
	if change := c.Told(now, Account{Left: 5, Metered: true}); !change.Filled {
		t.Error("no news that the account has something again")
	}
	c.next(t, now, SendFirst)
}
