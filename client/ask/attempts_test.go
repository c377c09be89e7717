package ask

import (
	"math"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// item is a request as callers have it.
type item struct {
	Attempts
	size int
}

func (i *item) BodySize() int { return i.size }

func named(name string) *item {
	return &item{Attempts: Attempts{Request: client.Request{Input: name}}}
}

func names(items []*item) (list []string) {
	for _, i := range items {
		list = append(list, i.Request.Input)
	}
	return list
}

var (
	failure   = &client.Error{Class: client.Transient, Status: 500}
	refusal   = &client.Error{Class: client.Transient, Status: 429}
	unreached = &client.Error{Class: client.Transient, Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	start     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// policy waits for a second after each attempt, and allows two.
var policy = client.RetryPolicy{
	MaxAttempts: 2, MaxRefusals: 1, Base: time.Second, Cap: time.Second, MaxWait: time.Hour,
	Jitter: func(d time.Duration) time.Duration { return d },
}

// service is a controller that sends what it is asked for.
type service struct {
	*limits.Controller
	t *testing.T
}

func newService(t *testing.T) service {
	return service{limits.New(limits.Options{Rate: math.Inf(1)}, start), t}
}

// attempt makes an attempt at a time, which ends a millisecond later.
func (s service) attempt(at time.Time, signal limits.Signal) {
	s.t.Helper()
	d := s.Next(at, limits.Queue{First: true, Retry: true})
	if d.Action != limits.SendFirst && d.Action != limits.SendRetry {
		s.t.Fatalf("at %v: decision %+v", at, d)
	}
	s.End(at.Add(time.Millisecond), d.Permit, limits.Result{Signal: signal})
}

// fail has attempts fail until the service is out, and returns the time after the last.
func (s service) fail(from time.Time) time.Time {
	s.t.Helper()
	for now := from; now.Before(from.Add(time.Minute)); now = now.Add(100 * time.Millisecond) {
		if d := s.Next(now, limits.Queue{First: true}); d.Action == limits.SendFirst {
			s.End(now.Add(time.Millisecond), d.Permit, limits.Result{Signal: limits.Failed})
		}
		if s.Status().State == limits.Out {
			return now.Add(100 * time.Millisecond)
		}
	}
	s.t.Fatal("the service is not out")
	return from
}

func TestAttemptsCount(t *testing.T) {
	a := &Attempts{}
	steps := []struct {
		name string
		do   func(now time.Time)
		made int
		due  time.Duration // after the step
		used bool          // no attempt is left
	}{
		{"not sent", func(now time.Time) { a.Begin(now); a.Repeat(now) }, 0, 0, false},
		{"a refusal does not count as the first", func(now time.Time) { a.Begin(now); a.Fail(now, refusal, policy) }, 1, time.Second, false},
		{"a failure", func(now time.Time) { a.Begin(now); a.Fail(now, failure, policy) }, 2, time.Second, false},
		{"no connection", func(now time.Time) { a.Begin(now); a.Fail(now, unreached, policy) }, 3, time.Second, false},
		{"out of quota", func(now time.Time) { a.Begin(now); a.Repeat(now) }, 3, 0, false},
		{"a second refusal counts", func(now time.Time) { a.Begin(now); a.Fail(now, refusal, policy) }, 4, 0, true},
	}
	for i, s := range steps {
		now := start.Add(time.Duration(i) * time.Minute)
		s.do(now)
		if a.Made() != s.made || a.due.Sub(now) != s.due || a.spent != s.used || a.Sent != now {
			t.Errorf("%s: %d made, due after %v, used up %t; want %d, %v, %t", s.name, a.Made(), a.due.Sub(now), a.spent, s.made, s.due, s.used)
		}
	}
}

// Each cause of a failure, with and without further attempts.
func TestSettle(t *testing.T) {
	second := start.Add(time.Second)
	for _, tt := range []struct {
		name    string
		last    *client.Error // the failure at 1 s; nil for none that may count
		spent   bool
		before  func(service) time.Time // what happens around it; the time of the decision
		want    verdict
		counted int // of two attempts
	}{
		{"a repeated attempt", nil, false, func(s service) time.Time { return second }, repeat, 2},
		{"an answer since", failure, false, func(s service) time.Time {
			s.attempt(second.Add(time.Millisecond), limits.Answered)
			return second.Add(time.Second)
		}, repeat, 2},
		{"an answer since, and no attempt left", failure, true, func(s service) time.Time {
			s.attempt(second.Add(time.Millisecond), limits.Answered)
			return second.Add(time.Second)
		}, giveUp, 2},
		{"no answer since", failure, false, func(s service) time.Time { return second.Add(time.Second) }, repeat, 2},
		{"no answer since, and no attempt left", failure, true, func(s service) time.Time { return second.Add(time.Second) }, postpone, 2},
		{"an outage", failure, false, func(s service) time.Time { return s.fail(second) }, repeat, 1},
		{"an outage forgives the last attempt", failure, true, func(s service) time.Time { return s.fail(second) }, repeat, 1},
		{"an outage forgives a refusal", refusal, true, func(s service) time.Time { return s.fail(second) }, repeat, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t)
			a := &Attempts{made: 2}
			if tt.last != nil {
				a.Fail(second, tt.last, policy)
				a.spent = tt.spent
			}
			now := tt.before(s)
			if got := a.decide(now, s.Controller, limits.Queue{First: true}); got != tt.want || a.Counted() != tt.counted {
				t.Errorf("verdict %d, %d count; want %d, %d", got, a.Counted(), tt.want, tt.counted)
			}
			if decided := a.failed.IsZero(); decided != (tt.want == repeat) {
				t.Errorf("decided: %t", decided)
			}
			if tt.counted == 1 && (a.refusals != 0 || a.spent) {
				t.Errorf("after an outage %d refusals count, used up %t", a.refusals, a.spent)
			}
		})
	}
}

func TestParkedInOrder(t *testing.T) {
	s := newService(t)
	var p Parked[*item]
	for i, after := range []time.Duration{3, 1, 2} {
		x := named(string(rune('a' + i)))
		x.Begin(start)
		x.Fail(start, &client.Error{Class: client.Transient, RetryAfter: after * 10 * time.Second}, policy)
		p.Park(x)
	}
	first := start.Add(11 * time.Second) // with the second of the policy
	if p.Len() != 3 {
		t.Errorf("%d parked", p.Len())
	}
	if failed, q, due := p.Decide(start, s.Controller, limits.Queue{}); failed != nil || q.Retry || due != first {
		t.Errorf("at the start: failed %v, retry %t, due %v", names(failed), q.Retry, due)
	}
	var order []string
	for now := start; p.Len() > 0; now = now.Add(time.Second) {
		if _, q, _ := p.Decide(now, s.Controller, limits.Queue{}); q.Retry {
			x, _ := p.Take()
			order = append(order, x.Request.Input)
		}
	}
	if want := []string{"b", "c", "a"}; !slices.Equal(order, want) {
		t.Errorf("taken: %v, want %v", order, want)
	}
	if x, ok := p.Take(); ok {
		t.Errorf("took %v of none", x)
	}
}

// Requests without attempts left stay parked until an answer comes, and then fail together; others are asked again.
func TestParkedFailAfterAnAnswer(t *testing.T) {
	s := newService(t)
	var p Parked[*item]
	for _, name := range []string{"a", "b", "c"} {
		x := named(name)
		attempts := 2
		if name == "c" {
			attempts = 1
		}
		for range attempts {
			x.Begin(start)
			x.Fail(start, failure, policy)
		}
		p.Park(x)
	}
	now := start.Add(time.Second)
	q := limits.Queue{First: true}
	for range 3 { // the order of equal times is open
		failed, all, due := p.Decide(now, s.Controller, q)
		if failed != nil {
			t.Fatalf("failed without an answer: %v", names(failed))
		}
		if all.Retry {
			x, _ := p.Take()
			if x.Request.Input != "c" {
				t.Fatalf("%s is asked again", x.Request.Input)
			}
			continue
		}
		if want := now.Add(newsDelay); due != want {
			t.Fatalf("due %v, want %v", due, want)
		}
		now = due
	}
	s.attempt(now, limits.Answered)
	failed, all, due := p.Decide(now.Add(newsDelay), s.Controller, q)
	if got := names(failed); len(got) != 2 || all.Retry || !due.IsZero() || p.Len() != 0 {
		t.Errorf("failed %v, retry %t, due %v, %d parked", got, all.Retry, due, p.Len())
	}
	for _, x := range failed {
		if x.Counted() != 2 || x.Last != failure {
			t.Errorf("%s: %d attempts count, the last error is %v", x.Request.Input, x.Counted(), x.Last)
		}
	}
}

// Between Decide and Take other requests may be parked, also such as failed before.
func TestTakeWhatWasSettled(t *testing.T) {
	s := newService(t)
	var p Parked[*item]
	first, second := named("first"), named("second")
	for i, x := range []*item{second, first} { // the second fails first, and is parked late
		x.Begin(start)
		x.Begin(start)
		x.Fail(start.Add(time.Duration(i)), failure, policy) // the attempts are used up: due at once
	}
	first.Repeat(start.Add(time.Millisecond))
	first.failed = time.Time{}
	p.Park(first)
	if _, all, _ := p.Decide(start.Add(time.Second), s.Controller, limits.Queue{First: true}); !all.Retry {
		t.Fatal("no request is to be asked again")
	}
	p.Park(second)
	if x, _ := p.Take(); x != first {
		t.Errorf("took the %s, which was not decided on", x.Request.Input)
	}
}

// An attempt that says nothing about the request is taken back.
func TestFailOfAnAttempt(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  *client.Error
		made int
		due  time.Duration
	}{
		{"a failure", failure, 1, time.Second},
		{"it was not sent", &client.Error{Class: client.Unsent}, 0, 0},
		{"the quota is used up", &client.Error{Class: client.Quota, Status: 402}, 0, 0},
	} {
		x := named("a")
		x.Begin(start)
		x.Fail(start, tt.err, policy)
		if due := x.Due().Sub(start); x.Made() != tt.made || due != tt.due {
			t.Errorf("%s: %d attempts, due in %v", tt.name, x.Made(), due)
		}
	}
}
