package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// outage notices when the service as a whole fails and keeps the workers from asking
// until it is back. While it is out one worker at a time may probe, at growing
// intervals. What fails in an outage counts against no record: neither the failures it
// was noticed by nor the probes.
type outage struct {
	log *slog.Logger

	mu     sync.Mutex
	streak []*task       // of failed attempts since the last sound one, while the service is up
	out    chan struct{} // closed when the outage ends; nil while there is none
	since  time.Time
	last   *client.Error // that blamed the service
	probes chan struct{} // one token lets one worker probe

	began chan struct{} // tells the guard, of capacity 1
}

const (
	// streakFailures in a row by streakTasks records or more are an outage: a service
	// that fails one request in eight gets there once in a billion, and a few records
	// that it always fails at never do.
	streakFailures = 10
	streakTasks    = 5

	firstProbe = time.Second
	lastProbe  = 2 * time.Minute

	// verdictDelay is how long a record waits after its last attempt for the news that
	// this was an outage.
	verdictDelay = 10 * time.Second
)

func newOutage(log *slog.Logger) *outage {
	return &outage{log: log, probes: make(chan struct{}), began: make(chan struct{}, 1)}
}

// admit waits while the service is out, and says whether the attempt is a probe.
func (o *outage) admit(ctx context.Context) (probe bool, err error) {
	o.mu.Lock()
	out := o.out
	o.mu.Unlock()
	if out == nil {
		return false, nil
	}
	select {
	case <-out:
		return false, nil
	case <-o.probes:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (o *outage) ongoing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out != nil
}

// blamesService says whether an attempt failed as it would if the service were out, or had
// banned us: a ban refuses a key that has worked, and passes only where it is waited out. A
// refusal by the limits is a sign of life.
func blamesService(e *client.Error) bool {
	if e.Class != client.Transient {
		return false
	}
	switch e.Status {
	case 0, http.StatusOK, http.StatusUnauthorized, http.StatusForbidden:
		return true
	}
	return e.Status/100 == 5
}

// sound takes note of a sign of life.
func (o *outage) sound() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streak = o.streak[:0]
	if o.out == nil {
		return
	}
	o.log.Info("the service answers again", "after", time.Since(o.since).Round(time.Second).String())
	close(o.out)
	o.out = nil
}

// failed takes note of a failure that blames the service. An attempt that was made, or
// ended, in an outage is forgiven at once.
func (o *outage) failed(t *task, probe bool, e *client.Error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = e
	if o.out != nil || probe {
		t.forgiven.Add(1)
		return
	}
	o.streak = append(o.streak, t)
	if len(o.streak) < streakFailures || o.tasks() < streakTasks {
		o.trim()
		return
	}
	for _, t := range o.streak {
		t.forgiven.Add(1)
	}
	o.streak = o.streak[:0]
	o.out, o.since = make(chan struct{}), time.Now()
	o.log.Warn("the service is out: waiting for it", "error", e)
	select {
	case o.began <- struct{}{}:
	default: // the guard has not heard of the last one yet, and will find this
	}
}

// suspected says whether the last attempts look like the beginning of an outage.
func (o *outage) suspected() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out != nil || o.tasks() >= 3
}

func (o *outage) tasks() int {
	different := make(map[*task]bool, len(o.streak))
	for _, t := range o.streak {
		different[t] = true
	}
	return len(different)
}

// trim keeps a streak of few tasks from growing with their attempts.
func (o *outage) trim() {
	if len(o.streak) >= 2*streakFailures {
		o.streak = append(o.streak[:0], o.streak[streakFailures:]...)
	}
}

// guard lets workers probe while the service is out, until the run has no more to ask.
func (o *outage) guard(ctx context.Context, settled <-chan struct{}, longest time.Duration, stop func(error)) {
	for {
		select {
		case <-o.began:
			if !o.probe(ctx, settled, longest) {
				stop(&StopError{Cause: OutageTooLong, Err: o.tooLong(longest)})
				return
			}
		case <-settled:
			return
		case <-ctx.Done():
			return
		}
	}
}

// probe hands out one probe after the other; false when the outage lasts too long.
func (o *outage) probe(ctx context.Context, settled <-chan struct{}, longest time.Duration) bool {
	o.mu.Lock()
	out, since := o.out, o.since
	o.mu.Unlock()
	if out == nil {
		return true // was over before the guard had heard of it
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	end := time.NewTimer(longest - time.Since(since))
	defer end.Stop()
	for interval := firstProbe; ; interval = min(2*interval, lastProbe) {
		timer.Reset(interval)
		var probes chan struct{}
		for waiting := true; waiting; {
			select {
			case <-timer.C:
				probes = o.probes
			case probes <- struct{}{}:
				waiting = false
			case <-out:
				return true
			case <-end.C:
				return false
			case <-settled:
				return true
			case <-ctx.Done():
				return true
			}
		}
	}
}

func (o *outage) tooLong(longest time.Duration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return fmt.Errorf("the service has been out for %v (--max-outage), most lately with: %w", longest, o.last)
}

// retryBudget keeps retries to a share of the requests, so that a service that fails
// much is not asked more for it. It is a bucket of retries: first attempts fill it, and
// so does a retry that succeeds, for that was no waste. A trickle lets the last records
// of a run have theirs when there are no first attempts any more.
type retryBudget struct {
	mu      sync.Mutex
	tokens  float64
	drained time.Time // when tokens were last brought up to date
}

const (
	retryShare   = 0.2 // of the first attempts
	retryReserve = 50  // beyond the share: the first failures, and a bad minute
	retryTrickle = 1.0 // a second
)

func newRetryBudget(now time.Time) *retryBudget {
	return &retryBudget{tokens: retryReserve, drained: now}
}

func (b *retryBudget) earn(tokens float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(retryReserve, b.tokens+tokens)
}

// take takes one retry, or says how long until there is one.
func (b *retryBudget) take(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(retryReserve, b.tokens+now.Sub(b.drained).Seconds()*retryTrickle)
	b.drained = now
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) / retryTrickle * float64(time.Second))
	}
	b.tokens--
	return 0
}

// attemptsLeft says whether a task may be tried again.
func attemptsLeft(t *task, most int) bool { return t.attempts-int(t.forgiven.Load()) < most }
