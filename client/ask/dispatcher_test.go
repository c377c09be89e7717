package ask

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
)

// queueFront has items that wait for their first attempt. An attempt takes a second, and fails as often as the item says.
type queueFront struct {
	*Dispatcher[*item]
	asking sync.WaitGroup

	mu     sync.Mutex
	queue  []*item
	fails  map[string]int // how often an item fails
	gone   bool           // the items end after Waiting
	events []string
}

func (f *queueFront) note(event string, x *item) {
	f.events = append(f.events, event+" "+x.Request.Input)
}

func (f *queueFront) Waiting() limits.Queue {
	f.mu.Lock()
	defer f.mu.Unlock()
	return limits.Queue{First: len(f.queue) > 0}
}

func (f *queueFront) Next(action limits.Action) (x *item, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case action == limits.SendRetry:
		return f.Take()
	case f.gone:
		f.queue, f.gone = nil, false
		f.events = append(f.events, "gone")
		return nil, false
	}
	x, f.queue = f.queue[0], f.queue[1:]
	return x, true
}

func (f *queueFront) Send(x *item, permit limits.Permit) {
	f.asking.Go(func() {
		x.Begin(time.Now())
		time.Sleep(time.Second)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.fails[x.Request.Input] >= x.Made() {
			f.note("failed", x)
			f.End(permit, limits.Result{Signal: limits.Failed})
			x.Fail(time.Now(), failure, policy)
			f.Park(x)
			return
		}
		f.note("answered", x)
		f.End(permit, limits.Result{Signal: limits.Answered})
	})
}

func (f *queueFront) GiveUp(x *item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("gave up", x)
}

func (f *queueFront) AskQuota(context.Context) limits.Quota { return limits.Quota{Metered: true} }
func (f *queueFront) Report(limits.Effect)                  {}

func TestDispatcher(t *testing.T) {
	for _, tt := range []struct {
		name    string
		items   []string
		fails   map[string]int
		gone    bool
		options limits.Options
		events  []string
		err     string
	}{
		{name: "one after another", items: []string{"a", "b"}, options: limits.Options{Rate: 1},
			events: []string{"answered a", "answered b"}},
		{name: "a failure is asked again after its wait", items: []string{"a", "b", "c"}, fails: map[string]int{"a": 1}, options: limits.Options{Rate: 1},
			events: []string{"failed a", "answered b", "answered a", "answered c"}},
		{name: "attempts are used up", items: []string{"a", "b", "c", "d", "e"}, fails: map[string]int{"a": 9}, options: limits.Options{Rate: 1},
			events: []string{"failed a", "answered b", "failed a", "answered c", "gave up a", "answered d", "answered e"}},
		{name: "what waits may end before it is sent", items: []string{"a", "b"}, gone: true, options: limits.Options{Rate: 1},
			events: []string{"gone"}},
		{name: "the limits end the run", items: []string{"a", "b"}, options: limits.Options{Rate: 1, MaxRequests: 1},
			events: []string{"answered a"}, err: "*limits.SpentError"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				f := &queueFront{fails: tt.fails, gone: tt.gone}
				f.Dispatcher = NewDispatcher(f, limits.New(tt.options, time.Now()))
				ended := make(chan error)
				go func() { ended <- f.Run(ctx) }()
				synctest.Wait() // it waits for a request
				f.mu.Lock()
				for _, name := range tt.items {
					f.queue = append(f.queue, named(name))
				}
				f.mu.Unlock()
				f.Wake()
				f.Wake() // is not waited for
				err := <-ended
				f.asking.Wait()
				if !slices.Equal(f.events, tt.events) || err != nil && fmt.Sprintf("%T", err) != tt.err || err == nil && tt.err != "" {
					t.Errorf("got %q, %v", f.events, err)
				}
			})
		})
	}
}

// The wait ends when the dispatcher's wait is over or a retry is due, whichever comes first.
func TestSooner(t *testing.T) {
	for _, tt := range []struct {
		name            string
		wait, due, want time.Duration // 0 or less for none
	}{
		{"a wait", time.Second, 0, time.Second},
		{"a retry is due earlier", time.Second, time.Millisecond, time.Millisecond},
		{"a retry is due later", time.Second, time.Hour, time.Second},
		{"no bound but a retry", 0, time.Minute, time.Minute},
		{"a retry that is due already", time.Second, -time.Minute, time.Second},
		{"no bound", 0, 0, 0},
	} {
		if got := sooner(tt.wait, tt.due); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// lateFront says after a while which requests wait, and notes when it sends them. An attempt ends at once.
type lateFront struct {
	*Dispatcher[*item]
	waits []time.Duration // of each call of Waiting
	sent  []time.Time
	stop  context.CancelFunc
}

func (f *lateFront) Waiting() limits.Queue {
	if len(f.waits) == 0 {
		f.stop()
		return limits.Queue{}
	}
	time.Sleep(f.waits[0])
	f.waits = f.waits[1:]
	return limits.Queue{First: true}
}

func (f *lateFront) Next(limits.Action) (*item, bool) { return named("a"), true }

func (f *lateFront) Send(_ *item, permit limits.Permit) {
	f.sent = append(f.sent, time.Now())
	f.End(permit, limits.Result{Signal: limits.Answered})
}

func (f *lateFront) GiveUp(*item)                          {}
func (f *lateFront) AskQuota(context.Context) limits.Quota { return limits.Quota{} }
func (f *lateFront) Report(limits.Effect)                  {}

// A front may wait before it says which requests wait, as for a commit. The next request keeps its distance all the same.
func TestAFrontThatWaitsKeepsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		f := &lateFront{waits: []time.Duration{0, 0, 5 * time.Second, 0, 0, 0}, stop: stop}
		f.Dispatcher = NewDispatcher(f, limits.New(limits.Options{Rate: 1}, time.Now()))
		if err := f.Run(ctx); err != nil || len(f.sent) < 3 {
			t.Fatalf("%d requests, %v", len(f.sent), err)
		}
		for i, sent := range f.sent[1:] {
			if apart := sent.Sub(f.sent[i]); apart < time.Second {
				t.Errorf("requests %d and %d are %v apart", i+1, i+2, apart)
			}
		}
	})
}

// missedFront has its only attempt end, and another request come, just after it has said that no request waits.
type missedFront struct {
	lateFront
	permit limits.Permit
	calls  int
}

func (f *missedFront) Waiting() limits.Queue {
	switch f.calls++; f.calls {
	case 1, 3:
		return limits.Queue{First: true}
	case 2:
		f.End(f.permit, limits.Result{Signal: limits.Answered})
	default:
		f.stop()
	}
	return limits.Queue{}
}

func (f *missedFront) Send(_ *item, permit limits.Permit) {
	f.permit = permit
	f.sent = append(f.sent, time.Now())
}

// An attempt may end between the look at the queue and the decision to wait. What it has changed is seen all the same.
func TestTheEndOfAnAttemptIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		f := &missedFront{lateFront: lateFront{stop: stop}}
		f.Dispatcher = NewDispatcher(f, limits.New(limits.Options{Rate: math.Inf(1)}, time.Now()))
		if err := f.Run(ctx); err != nil || len(f.sent) != 2 {
			t.Errorf("%d requests, %v", len(f.sent), err)
		}
	})
}
