package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Pacer says when the next attempt may start. All workers of a run share one, so that
// what one of them meets all of them heed.
//
// With a fixed rate it never lets more start than that. Otherwise it learns the rate
// that the service allows: see learner. Either way it pauses when the service says so,
// and lets fewer attempts be in flight while many of them fail.
type Pacer struct {
	limiter *rate.Limiter
	slots   chan struct{} // of attempts in flight
	gate    chan struct{} // of capacity 1: taken by who waits for the limiter

	mu     sync.Mutex
	learn  *learner  // nil with a fixed rate
	paused time.Time // until when the service asked to wait
	flow   flow
}

// PacerOptions describe a Pacer.
type PacerOptions struct {
	Rate     rate.Limit // fixed; 0 to learn it, rate.Inf for no limit
	Learned  float64    // requests a second that an earlier run ended with; 0 if there was none
	InFlight int        // attempts at once, at most
}

// NewPacer gives a Pacer.
func NewPacer(o PacerOptions) *Pacer {
	p := &Pacer{slots: make(chan struct{}, o.InFlight), gate: make(chan struct{}, 1), flow: flow{allowed: o.InFlight, most: o.InFlight}}
	for range o.InFlight {
		p.slots <- struct{}{}
	}
	if o.Rate > 0 {
		p.limiter = NewLimiter(o.Rate)
		return p
	}
	p.learn = newLearner(o.Learned, time.Now())
	p.limiter = rate.NewLimiter(rate.Limit(p.learn.rate), learningBurst(p.learn.rate))
	return p
}

// NewLimiter allows perSecond requests a second (rate.Inf for no limit). The burst is a
// tenth of a second's worth, at least 1: enough to keep workers busy between two ticks
// of the scheduler, too little to look like a storm.
func NewLimiter(perSecond rate.Limit) *rate.Limiter {
	return rate.NewLimiter(perSecond, max(1, int(min(float64(perSecond)/10, 1e6))))
}

// learningBurst is smaller: the service's own burst is not known either.
func learningBurst(perSecond float64) int { return max(1, int(perSecond/100)) }

// Turn is the right to make one attempt.
type Turn struct {
	pacer *Pacer
	sent  time.Time
}

// Wait waits for the next turn. The caller ends it with Done. A nil Pacer lets everyone
// pass.
func (p *Pacer) Wait(ctx context.Context) (Turn, error) {
	if p == nil {
		return Turn{}, ctx.Err()
	}
	select {
	case <-p.slots:
	case <-ctx.Done():
		return Turn{}, ctx.Err()
	}
	for {
		if err := p.sitOut(ctx); err != nil {
			p.slots <- struct{}{}
			return Turn{}, err
		}
		if err := p.pass(ctx); err != nil {
			p.slots <- struct{}{}
			return Turn{}, err
		}
		if p.pause() <= 0 { // else a token was spent on waiting: nothing rushes off together afterwards
			return p.start(), nil
		}
	}
}

// pass waits for the limiter, one at a time: what it says to one that waits holds for the
// rate of that moment, and so hundreds that had asked together would go on at the rate
// of the first for as long as that takes.
func (p *Pacer) pass(ctx context.Context) error {
	if p.limiter.Limit() == rate.Inf {
		return ctx.Err()
	}
	select {
	case p.gate <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.gate }()
	return p.limiter.Wait(ctx)
}

func (p *Pacer) start() Turn {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.learn != nil {
		p.learn.started(now)
	}
	return Turn{pacer: p, sent: now}
}

func (p *Pacer) sitOut(ctx context.Context) error {
	for {
		wait := p.pause()
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

func (p *Pacer) pause() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.paused)
}

// Cancel ends a turn whose attempt was not made.
func (t Turn) Cancel() {
	if t.pacer != nil {
		t.pacer.slots <- struct{}{}
	}
}

// longestPause bounds what a service may ask of all workers at once; a longer outage
// is probed instead.
const longestPause = 5 * time.Minute

// Done ends a turn with what became of the attempt, as a Categorizer gave it.
func (t Turn) Done(answer Answer, err error) {
	if t.pacer == nil {
		return
	}
	p, now := t.pacer, time.Now()
	limit := answer.Limit
	var e *Error
	if errors.As(err, &e) {
		limit = e.Limit
	}
	p.mu.Lock()
	p.heed(t.sent, now, limit, err, e)
	change := p.flow.ended(now, e)
	p.mu.Unlock()
	for range change {
		p.slots <- struct{}{}
	}
}

// heed adjusts rate and pause.
func (p *Pacer) heed(sent, now time.Time, limit RateLimit, err error, e *Error) {
	refused := e != nil && e.Status == http.StatusTooManyRequests
	wait := pauseFor(limit, e, refused)
	if p.learn == nil {
		p.pauseUntil(now.Add(wait))
		return
	}
	before, insists := p.learn.rate, p.learn.insists(now)
	switch {
	case refused && p.learn.refused(sent, now):
		if wait <= shortestWait && !insists {
			wait = watched
		}
		p.pauseUntil(now.Add(wait))
	case refused && wait <= shortestWait: // of the same burst
	default:
		p.pauseUntil(now.Add(wait))
	}
	if err == nil {
		p.learn.answered(sent, now)
	}
	p.learn.told(limit.PerSecond, now)
	if p.learn.rate != before {
		p.limiter.SetLimitAt(now, rate.Limit(p.learn.rate))
		p.limiter.SetBurstAt(now, learningBurst(p.learn.rate))
	}
}

// shortestWait is what a service says that would have us wait for a moment: whole
// seconds, and dates of whole seconds, have no word for less. The refused request waits
// as it is told; for all others the lower rate does.
const shortestWait = 2 * time.Second

// pauseUntil lets nobody start before a time.
func (p *Pacer) pauseUntil(until time.Time) {
	if latest := time.Now().Add(longestPause); until.After(latest) {
		until = latest
	}
	if until.After(p.paused) {
		p.paused = until
	}
}

// pauseFor is how long all are to wait: a refusal by the limit says so, a ban (a key that
// has worked is forbidden), and a window in which nothing is left.
func pauseFor(limit RateLimit, e *Error, refused bool) time.Duration {
	if refused || e != nil && e.Class == Transient && e.Status == http.StatusForbidden {
		return e.RetryAfter
	}
	if limit.Reset > 0 && limit.Remaining == 0 {
		return limit.Reset
	}
	return 0
}

// Learned is the rate to start the next run with; 0 if there is none.
func (p *Pacer) Learned() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.learn == nil {
		return 0
	}
	return p.learn.limit
}

// Rate is the present rate in requests a second.
func (p *Pacer) Rate() float64 { return float64(p.limiter.Limit()) }

// flow bounds the attempts in flight: fewer while many of them fail.
type flow struct {
	allowed, most int
	debt          int // slots to keep back until allowed is reached
	epoch         time.Time
	sound, failed int // in this epoch
}

const (
	flowEpoch   = time.Second
	flowFailing = 0.25 // of an epoch's attempts: above what flaky services lose, below a sick one's
	flowFewest  = 5    // failures that say something
)

// ended takes note of an attempt's end and says how many slots to give back: 1 in
// steady flow. A refusal by the limit is the rate's business, and an answer that is still
// being calculated is no failure.
func (f *flow) ended(now time.Time, e *Error) int {
	if e != nil && e.Class == Transient && e.Status != http.StatusTooManyRequests && e.Status != http.StatusAccepted {
		f.failed++
	} else {
		f.sound++
	}
	if f.debt > 0 {
		f.debt--
		return f.turn(now)
	}
	return 1 + f.turn(now)
}

// turn ends an epoch: half as many after a failing one, a quarter more after a sound one.
func (f *flow) turn(now time.Time) (more int) {
	if now.Sub(f.epoch) < flowEpoch {
		return 0
	}
	failing := f.failed >= flowFewest && float64(f.failed) > flowFailing*float64(f.failed+f.sound)
	f.epoch, f.sound, f.failed = now, 0, 0
	want := min(f.most, f.allowed+f.allowed/4+1)
	if failing {
		want = max(1, f.allowed/2)
	}
	grow := want - f.allowed
	f.allowed = want
	if grow < 0 {
		f.debt -= grow
		return 0
	}
	paid := min(grow, f.debt)
	f.debt -= paid
	return grow - paid
}

// ParseRate reads "10/s", "600/m", "36000/h", a bare number (a second), or "0" for no
// limit.
func ParseRate(text string) (rate.Limit, error) {
	number, unit, _ := strings.Cut(strings.ReplaceAll(text, " ", ""), "/")
	seconds, ok := map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || !(n >= 0 && n <= 1e9) {
		return 0, fmt.Errorf("%q is not a rate: write 10/s, 600/m, 36000/h, or 0 for no limit", text)
	}
	if n == 0 {
		return rate.Inf, nil
	}
	return rate.Limit(n / seconds), nil
}
