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
	c.End(now, c.next(t, now, SendFirst).Permit, Result{Signal: Canceled, Unreached: true}) // ask.NotSent
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

// A run that waits for quota asks after ten seconds, and then less often: after an eighth of its wait, up to ten minutes.
func TestWaitForQuota(t *testing.T) {
	c, now := newController(Options{WaitForQuota: true})
	p := c.begin(now, true)
	c.End(now, p, Result{Signal: OutOfQuota})
	_, first := c.Exhausted(now, 0)
	if _, second := c.Exhausted(now, 0); !first || second {
		t.Error("only the first call must return true")
	}
	begin := now
	for waited := time.Duration(0); waited < 3*time.Hour; waited = now.Sub(begin) {
		pause := min(max(waited/8, 10*time.Second), 10*time.Minute)
		if d := c.next(t, now, Wait); d.For != pause {
			t.Fatalf("waits for %v after %v, want %v", d.For, waited, pause)
		}
		now = now.Add(pause)
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

// A run that waits for quota outlasts a service that does not say what is left for an hour, and goes on within two
// minutes, or ten if the quota was used up before. Others stop after two minutes.
func TestQuotaUnknownForAnHour(t *testing.T) {
	for _, tt := range []struct {
		name        string
		wait, empty bool
		reserve     int64
		most        time.Duration // from the end of the outage until the run goes on; 0 if the run stops
	}{
		{"a run that waits, with a reserve", true, false, 5, probeLast},
		{"a run that waits, with a reserve of nothing", true, false, 0, probeLast},
		{"a run that waits and knows that nothing is left", true, true, 5, pollLast},
		{"a run that stops", false, false, 5, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, now := newController(Options{KeepReserve: true, Reserve: tt.reserve, WaitForQuota: tt.wait})
			if tt.empty {
				c.ReportQuota(now, Quota{Left: 1, Metered: true})
			}
			over := now.Add(time.Hour)
			for asked := 0; ; {
				switch d := c.Next(now, Queue{First: true}); {
				case d.Action == AskQuota && now.Before(over):
					if asked++; asked > 60 {
						t.Fatalf("asks %d times in %v", asked, time.Hour-over.Sub(now))
					}
					c.ReportQuota(now, Quota{Err: errSome, Transient: true})
				case d.Action == AskQuota:
					c.ReportQuota(now, Quota{Left: 100, Metered: true})
				case d.Action == Wait && d.For > 0:
					now = now.Add(d.For)
				case d.Action == Stop && tt.most == 0:
					return
				case d.Action == SendFirst && tt.most > 0 && now.Sub(over) <= tt.most:
					return
				default:
					t.Fatalf("%v after the outage: %+v", now.Sub(over), d)
				}
			}
		})
	}
}

// A service that goes out when the number of requests until the next look at the quota is used up is not asked for the
// quota in a tight loop.
func TestQuotaIsNotAskedWithoutPause(t *testing.T) {
	c, now := newController(Options{Rate: math.Inf(1), KeepReserve: true, WaitForQuota: true, CanAsk: true})
	c.next(t, now, AskQuota)
	c.ReportQuota(now, Quota{Left: 50, Metered: true})
	for sent := 0; sent < 50; {
		d := c.Next(now, Queue{First: true})
		now = now.Add(max(d.For, 100*time.Millisecond))
		if d.Action == SendFirst {
			sent++
			c.End(now, d.Permit, Result{Signal: Failed, Broken: true})
		}
	}
	asked, end := 0, now.Add(10*time.Minute)
	for now.Before(end) && asked < 1000 {
		switch d := c.Next(now, Queue{First: true}); d.Action {
		case AskQuota:
			asked++
			c.ReportQuota(now, Quota{Err: errSome, Transient: true})
		case Wait:
			now = now.Add(max(d.For, time.Millisecond))
		default:
			t.Fatalf("got %+v", d)
		}
	}
	if asked > 60 {
		t.Errorf("the quota is asked %d times in %v of outage", asked, 10*time.Minute-end.Sub(now))
	}
	c.ReportQuota(now, Quota{Left: 50, Metered: true})
	c.next(t, now, SendFirst)
}

// A service that does not tell its quota gets a request about a quarter of an hour after it was used up, whatever wait it states.
func TestStatedWaitOfAServiceWithoutUsage(t *testing.T) {
	for _, stated := range []time.Duration{0, time.Second, 9 * minute, 20 * time.Hour} {
		c, now := newController(Options{WaitForQuota: true})
		c.End(now, c.begin(now, true), Result{Signal: OutOfQuota})
		c.Exhausted(now, stated)
		start, asks := now, 0
		d := c.Next(now, Queue{First: true})
		for ; d.Action != SendFirst; d = c.Next(now, Queue{First: true}) {
			if d.Action == AskQuota {
				asks++
				c.ReportQuota(now, Quota{Err: errSome})
			} else {
				now = now.Add(max(d.For, ms))
			}
		}
		if waited := now.Sub(start); waited > pollEnds+2*minute {
			t.Errorf("stated %v: a request after %v, %d questions", stated, waited, asks)
		}
	}
}

// A run that is told that the quota is used up for 20 hours does not ask as often as one that is told nothing.
func TestLongStatedWait(t *testing.T) {
	asked := func(stated time.Duration) (n int) {
		c, now := newController(Options{WaitForQuota: true, CanAsk: true})
		c.End(now, c.begin(now, true), Result{Signal: OutOfQuota})
		c.Exhausted(now, stated)
		for end := now.Add(time.Hour); now.Before(end); {
			if d := c.Next(now, Queue{First: true}); d.Action == AskQuota {
				n++
				c.ReportQuota(now, Quota{Metered: true})
			} else {
				now = now.Add(max(d.For, ms))
			}
		}
		return n
	}
	if long := asked(20 * time.Hour); long > 20 {
		t.Errorf("%d questions in the first hour of 20, %d without a stated wait", long, asked(0))
	}
}

// The bound of the requests holds in a trip, too, while no retry is due. The bound is reached by the refused request that
// begins the trip.
func TestMaxRequestsInATrip(t *testing.T) {
	run := func(most int64) (made, atTrip int64) {
		c, now := newController(Options{MaxRequests: most})
		for range 5000 {
			first := c.sent < 50 && c.health.state == Up
			d := c.Next(now, Queue{First: first, Retry: !first && c.health.state == Up, Known: true, Proof: true})
			switch d.Action {
			case Wait:
				now = now.Add(max(d.For, ms))
				continue
			case Stop:
				return c.budget.made, atTrip
			}
			now = now.Add(5 * ms)
			signal := Answered
			if !first {
				signal = Refused
			}
			c.End(now, d.Permit, Result{Signal: signal})
			if atTrip == 0 && c.health.state != Up {
				atTrip = c.budget.made
			}
			if d.Action == SendKnown {
				break
			}
		}
		return c.budget.made, atTrip
	}
	_, most := run(1_000_000)
	if made, _ := run(most); made > most {
		t.Errorf("%d requests, of at most %d", made, most)
	}
}
