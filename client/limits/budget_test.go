package limits

import (
	"errors"
	"math"
	"testing"
	"time"
)

var errSome = errors.New("usage is out of order")

// next decides while first attempts wait, and fails the test unless the action is want.
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
		t.Errorf("waits for %v instead of the requests in flight", d.For)
	}
	c.End(now, first, Result{Signal: Answered})
	c.End(now, second, Result{Signal: Unsent})
	third := c.next(t, now, SendFirst).Permit
	c.next(t, now, Wait)
	c.End(now, third, Result{Signal: Answered})
	d := c.next(t, now, Stop)
	if spent, ok := errors.AsType[*SpentError](d.Err); !ok || spent.Limit != MaxRequests || d.Err.Error() != "the limit of 2 requests is reached" {
		t.Errorf("got %v", d.Err)
	}
}

// A bound that is reached stops a run only if another request waits, be it for its retry.
func TestBudgetWithoutNeed(t *testing.T) {
	for _, o := range []Options{{MaxRequests: 1}, {KeepReserve: true, Reserve: 5}} {
		c, now := newController(o)
		if c.budget.reserve >= 0 {
			c.next(t, now, AskQuota)
			c.ReportQuota(now, Quota{Left: 6, Metered: true})
		}
		c.End(now, c.next(t, now, SendFirst).Permit, Result{Signal: Answered})
		for queue, goesOn := range map[Queue]bool{{}: true, {First: true}: false, {Retry: true}: false} {
			if d := c.Next(now, queue); (d.Action == Wait) != goesOn {
				t.Errorf("%+v, %+v: got %+v", o, queue, d)
			}
		}
	}
}

// A shard that has used up its part of the quota names its part, and an option only if that helps.
func TestPartOfAShard(t *testing.T) {
	for quota, want := range map[Quota]struct{ message, option string }{
		{Left: 0, Metered: true}: {"the shard's part of the quota is used up: fewer than 4 requests are left for 4 shards", ""},
		{Err: errSome}:           {"the shard's part of the quota is unknown: the service does not say what is left: usage is out of order", ""},
		{Left: 9, Metered: true}: {"the shard's part of the quota is used up: fewer than 4 requests beside the reserve of 9 requests are left for 4 shards", "limits.Reserve"},
	} {
		c, now := newController(Options{Rate: math.Inf(1), KeepReserve: true, Reserve: quota.Left, Shards: 4})
		c.next(t, now, AskQuota)
		c.ReportQuota(now, quota)
		d := c.next(t, now, Stop)
		if spent, ok := errors.AsType[*SpentError](d.Err); !ok || spent.OptionName() != want.option || d.Err.Error() != want.message {
			t.Errorf("got %v, want %+v", d.Err, want)
		}
	}
}

func TestReserve(t *testing.T) {
	for _, tt := range []struct {
		name    string
		quota   Quota
		wait    bool
		want    Action
		message string // of the error
	}{
		{"more is left", Quota{Left: 101, Metered: true}, false, SendFirst, ""},
		{"the reserve is left", Quota{Left: 100, Metered: true}, false, Stop, "the reserve of 100 requests is reached"},
		{"the run waits", Quota{Left: 100, Metered: true}, true, Wait, ""},
		{"unlimited", Quota{}, false, SendFirst, ""},
		{"unknown for good", Quota{Err: errSome}, false, Stop, "the reserve of 100 requests cannot be kept: the service does not say what is left: usage is out of order"},
		{"unknown for now", Quota{Err: errSome, Transient: true}, false, Wait, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, now := newController(Options{KeepReserve: true, Reserve: 100, WaitForQuota: tt.wait})
			c.next(t, now, AskQuota)
			c.ReportQuota(now, tt.quota)
			if d := c.next(t, now, tt.want); tt.message != "" && d.Err.Error() != tt.message {
				t.Errorf("got %v", d.Err)
			}
		})
	}
}

// A run that waits for quota asks after a minute, and then less often.
func TestWaitForQuota(t *testing.T) {
	c, now := newController(Options{WaitForQuota: true})
	p := c.begin(now, true)
	c.End(now, p, Result{Signal: OutOfQuota})
	_, first := c.Exhausted(now, 0)
	if _, second := c.Exhausted(now, 0); !first || second {
		t.Error("only the first call must return true")
	}
	for _, pause := range []time.Duration{1, 2, 4, 8, 10, 10} {
		if d := c.next(t, now, Wait); d.For != pause*time.Minute {
			t.Fatalf("waits for %v, want %v min", d.For, int(pause))
		}
		now = now.Add(pause * time.Minute)
		c.next(t, now, AskQuota)
		c.ReportQuota(now, Quota{Left: 0, Metered: true})
	}
	now = now.Add(pollLast)
	if change := c.ReportQuota(now, Quota{Left: 5, Metered: true}); !change.Refilled {
		t.Error("the change does not say that there is quota again")
	}
	c.next(t, now, SendFirst)
}

// A run that waits for quota heeds the wait that the service names, and asks soon after it.
func TestWaitForQuotaAsStated(t *testing.T) {
	c, now := newController(Options{WaitForQuota: true})
	start := now
	c.End(now, c.begin(now, true), Result{Signal: OutOfQuota})
	if wait, _ := c.Exhausted(now, 80*time.Second); wait != 81*time.Second {
		t.Errorf("waits for %v", wait)
	}
	for left := int64(0); left == 0; {
		now = now.Add(c.next(t, now, Wait).For)
		c.next(t, now, AskQuota)
		if now.Sub(start) >= 90*time.Second {
			left = 100
		}
		c.ReportQuota(now, Quota{Left: left, Metered: true})
	}
	if waited := now.Sub(start); waited > 100*time.Second {
		t.Errorf("goes on after %v", waited)
	}
	c.next(t, now, SendFirst)

	c, now = newController(Options{WaitForQuota: true})
	if wait, _ := c.Exhausted(now, 20*time.Hour); wait != pollLast { // quota may be bought meanwhile
		t.Errorf("waits for %v", wait)
	}
}
