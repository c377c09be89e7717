package limits

import (
	"testing"
	"time"
)

// The cause of a failure depends on the answers since the failure.
func TestCauseOf(t *testing.T) {
	type step struct {
		at     time.Duration
		signal Signal
		broken bool
	}
	broken := func(n int) (steps []step) {
		for i := range n {
			steps = append(steps, step{time.Second + time.Duration(i)*time.Millisecond, Failed, true})
		}
		return steps
	}
	var dies []step
	for i := range doubtFailures {
		dies = append(dies, step{time.Second + time.Duration(i)*2*oneEvent, Failed, false})
	}
	for _, tt := range []struct {
		name   string
		steps  []step // attempts, one after the other
		failed time.Duration
		queue  Queue
		last   bool
		canAsk bool
		want   FailureCause
	}{
		{"an answer has come", []step{{1 * time.Second, Failed, false}, {2 * time.Second, Answered, false}}, time.Second, Queue{}, true, true, CauseRequest},
		{"a probe has ended the doubt", append(dies, step{2 * time.Second, Answered, false}), time.Second, Queue{}, true, true, CauseOutage},
		{"most connections have broken", broken(3), time.Second, Queue{}, true, true, CauseOutage},
		{"most connections have broken, and an answer has come", append(broken(3), step{2 * time.Second, Answered, false}), time.Second, Queue{}, true, true, CauseOutage},
		{"connections have broken, as by chance", append(broken(2), step{2 * time.Second, Answered, false}), time.Second, Queue{}, true, true, CauseRequest},
		{"no answer, others wait", []step{{1 * time.Second, Failed, false}}, time.Second, Queue{First: true}, true, true, CauseUnknown},
		{"no answer, nothing waits, the quota can be asked for", []step{{1 * time.Second, Failed, false}}, time.Second, Queue{}, true, true, CauseUnknown},
		{"no answer, nothing waits, the quota is unknown", []step{{1 * time.Second, Failed, false}}, time.Second, Queue{}, true, false, CauseRequest},
		{"no answer, nothing waits, and a proof is wanted", []step{{1 * time.Second, Failed, false}}, time.Second, Queue{Proof: true}, true, false, CauseOutage},
		{"no answer, and a test can prove it", []step{{1 * time.Second, Failed, false}}, time.Second, Queue{Proof: true, Known: true}, true, false, CauseUnknown},
		{"an answer has come, and a proof is wanted", []step{{1 * time.Second, Failed, false}, {2 * time.Second, Answered, false}}, time.Second, Queue{Proof: true}, true, false, CauseRequest},
		{"attempts are left", []step{{1 * time.Second, Failed, false}}, time.Second, Queue{}, false, false, CauseUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, start := newController(Options{CanAsk: tt.canAsk})
			now := start
			for _, s := range tt.steps {
				now = start.Add(s.at)
				sent := now
				if s.broken { // all are in flight when the first breaks
					sent = start.Add(time.Second)
				}
				c.End(now, c.begin(sent, true), Result{Signal: s.signal, Broken: s.broken})
			}
			if got := c.CauseOf(now, start.Add(tt.failed), tt.queue, tt.last); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// TestAnswerAfterFailedInputs puts the service in doubt since nothing is left to ask that could show whether inputs that
// failed are the cause. Then another input comes, and is answered at once, or after another failure.
func TestAnswerAfterFailedInputs(t *testing.T) {
	for name, tt := range map[string]struct {
		signals []Signal
		want    FailureCause
	}{
		"answered":                  {[]Signal{Answered}, CauseRequest},
		"answered after a failure":  {[]Signal{Failed, Answered}, CauseOutage},
		"answered after a refusal":  {[]Signal{Refused, Answered}, CauseOutage},
		"answered after two causes": {[]Signal{Refused, Failed, Answered}, CauseOutage},
	} {
		t.Run(name, func(t *testing.T) {
			c, now := newController(Options{CanAsk: true})
			c.End(now, c.begin(now, true), Result{Signal: Answered})
			failed := now.Add(time.Second)
			c.End(failed, c.begin(failed, true), Result{Signal: Failed})
			now = failed.Add(10 * time.Millisecond)
			if got := c.CauseOf(now, failed, Queue{Known: true}, true); got != CauseUnknown {
				t.Fatalf("before another input comes: %d", got)
			}
			for _, signal := range tt.signals {
				d := c.Next(now, Queue{First: true})
				for d.Action == Wait {
					now = now.Add(max(d.For, time.Millisecond))
					d = c.Next(now, Queue{First: true})
				}
				now = now.Add(10 * time.Millisecond)
				c.End(now, d.Permit, Result{Signal: signal})
			}
			if got := c.CauseOf(now, failed, Queue{Known: true}, true); got != tt.want {
				t.Errorf("after another input has been answered: %d, want %d", got, tt.want)
			}
		})
	}
}

// A failure in an outage does not count against its record, in the outage and afterwards.
func TestFailuresInAnOutage(t *testing.T) {
	c, now := newController(Options{})
	start := now
	for c.health.state != Out {
		d := c.Next(now, Queue{First: true})
		if d.Action == Wait {
			now = now.Add(max(d.For, time.Millisecond))
			continue
		}
		c.End(now.Add(20*time.Millisecond), d.Permit, Result{Signal: Failed})
	}
	if took := now.Sub(start); took > 30*time.Second {
		t.Errorf("the outage shows after %v", took)
	}
	failed := now
	if got := c.CauseOf(now, failed, Queue{}, true); got != CauseOutage {
		t.Errorf("in the outage: %d", got)
	}
	now = now.Add(time.Hour)
	change := c.End(now.Add(time.Second), c.begin(now, true), Result{Signal: Answered})
	if change.State != Up || change.After < time.Hour {
		t.Errorf("the end of the outage: %+v", change)
	}
	if got := c.CauseOf(now.Add(time.Second), failed, Queue{}, true); got != CauseOutage {
		t.Errorf("after the outage: %d", got)
	}
	if got := c.CauseOf(now.Add(2*time.Second), now.Add(1500*time.Millisecond), Queue{First: true}, true); got != CauseUnknown {
		t.Errorf("a later failure: %d", got)
	}
}

// A connection that breaks under many requests is one event.
func TestBrokenConnectionIsOneEvent(t *testing.T) {
	c, now := newController(Options{})
	var permits []Permit
	for range 50 {
		permits = append(permits, c.begin(now, true))
	}
	now = now.Add(time.Second)
	for _, p := range permits {
		c.End(now, p, Result{Signal: Failed, Broken: true})
	}
	if c.health.state != Up || c.faults.recent.bad != 1 {
		t.Errorf("state %d, %v failures", c.health.state, c.faults.recent.bad)
	}
}

// Only an answer to a request that was answered before ends a suspicion.
func TestSuspect(t *testing.T) {
	c, now := newController(Options{})
	early := c.begin(now, true)
	c.Suspect(now.Add(time.Second))
	c.End(now.Add(2*time.Second), early, Result{Signal: Answered})
	for _, step := range []struct {
		signal Signal
		state  ServiceState
	}{{Failed, Doubt}, {Failed, Doubt}, {Failed, Out}, {Canceled, Out}, {Answered, Up}} {
		now = now.Add(time.Minute)
		d := c.Next(now, Queue{First: true, Retry: true})
		if d.Action != SendKnown {
			t.Fatalf("before %+v: %+v", step, d)
		}
		c.End(now, d.Permit, Result{Signal: step.signal})
		if c.health.state != step.state {
			t.Errorf("after %+v the state is %d", step, c.health.state)
		}
	}
	if d := c.Next(now.Add(time.Minute), Queue{First: true}); d.Action != SendFirst {
		t.Errorf("afterwards: %+v", d)
	}
}
