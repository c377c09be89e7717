package limits

import (
	"math"
	"sync"
	"time"
)

// Options describe a Controller. The zero value learns the rate, bounds nothing else, and
// waits for a service that is out for as long as that takes.
type Options struct {
	Rate     float64 // requests a second at most; 0 to learn the rate; math.Inf(1) to start without any limit
	Burst    int     // requests at once within Rate; default 1: requests are evenly spaced
	Learned  float64 // requests a second that an earlier run ended with; 0 if there was none
	InFlight int     // attempts at once at most; default DefaultInFlight

	MaxWait   time.Duration // that one response can cause; default 15 minutes
	MaxOutage time.Duration // that the service may be out at a stretch; 0 for no bound

	MaxRequests  int64 // that the run may make; 0 for no bound
	KeepReserve  bool  // leave Reserve requests of the account
	Reserve      int64
	WaitForQuota bool // wait when nothing is left of the account, instead of stopping
	CanAsk       bool // the service says what is left of the account, as far as is known
}

// DefaultInFlight is more than any rate times latency seen, and a machine has several times as
// many ports.
const DefaultInFlight = 4096

const defaultMaxWait = 15 * time.Minute

func (o Options) withDefaults() Options {
	if o.InFlight <= 0 {
		o.InFlight = DefaultInFlight
	}
	if o.MaxWait <= 0 {
		o.MaxWait = defaultMaxWait
	}
	if o.MaxOutage <= 0 {
		o.MaxOutage = math.MaxInt64
	}
	return o
}

// Outcome is what became of an attempt.
type Outcome uint8

// The outcomes.
const (
	Answered   Outcome = iota + 1 // the service did its work: an answer, a rejection of the input, or "still calculating"
	Refused                       // the service says that it is asked too much
	Failed                        // any other failure that may pass
	Unsent                        // the request has not reached the service, for a reason on this machine
	OutOfQuota                    // nothing is left of the account
	Canceled                      // the caller gave the attempt up
)

// Result is what a response tells. Fields that it does not tell are zero.
type Result struct {
	Outcome Outcome
	Broken  bool          // of a failure: the connection failed, and perhaps others' with it
	Wait    time.Duration // that the service asks for
	Rate    float64       // requests a second that the service states as its limit
}

// Permit is the right to make one attempt.
type Permit struct {
	first    bool // the first attempt for its input
	probe    bool // of a service in doubt
	sent     time.Time
	inFlight int  // with this one
	full     bool // as many as may be in flight
	accepted bool // counted for good until it fails: the service is slow
}

// Action is what the caller is to do next.
type Action uint8

// The actions.
const (
	Wait       Action = iota // for Decision.For, or until a Change says so
	SendFirst                // a first attempt
	SendRetry                // a retry
	SendKnown                // a request that was answered before, to see whether the service still works (see Suspect)
	AskAccount               // what is left of the account, and report with Told
	Stop                     // end the run, for the reason Decision.Err
)

// Decision says what to do next.
type Decision struct {
	Action Action
	Permit Permit        // of SendFirst, SendRetry and SendKnown
	For    time.Duration // of Wait; 0 to wait for a Change
	Err    error         // of Stop: a *SpentError or an *OutageError
}

// Queue says what waits to be sent.
type Queue struct {
	First bool // an input that was not asked before
	Retry bool // a retry that is due
}

// Change says what an event has changed.
type Change struct {
	Wake  bool          // a decision to wait may hold no longer
	State State         // of the service, if that has changed; else 0
	After time.Duration // that the service was out, when it is Up again

	Filled bool // the account has something again
}

// Controller is described in the package comment. It is safe for concurrent use.
type Controller struct {
	options Options

	mu       sync.Mutex
	pace     pace
	flight   flight
	pressure pressure
	health   health
	budget   budget
	credit   float64 // retries that may go before the next first attempt
	inFlight int
	waiting  bool // the caller waits for a change
}

// New gives a controller for a run that starts now.
func New(o Options, now time.Time) *Controller {
	o = o.withDefaults()
	c := &Controller{options: o, health: newHealth(now), budget: newBudget(o)}
	c.pace = newPace(o, now)
	c.flight = newFlight(o, now)
	c.pressure.begin(now)
	return c
}

const (
	// retryShare of the first attempts are retries while both wait: a minority, and enough for
	// a service that fails every third request.
	retryShare = 0.5
	// retryCredit is how many retries may follow each other before a first attempt.
	retryCredit = 8
)

// Next says what to do now. Where that is to send, the permit is taken.
func (c *Controller) Next(now time.Time, q Queue) Decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, paced := c.decide(now, q)
	c.waiting = d.Action == Wait && !paced
	switch d.Action {
	case SendFirst, SendKnown:
		d.Permit = c.begin(now, true)
	case SendRetry:
		d.Permit = c.begin(now, false)
	}
	return d
}

// decide also says whether the decision is to wait for the pace, which no event shortens by much.
func (c *Controller) decide(now time.Time, q Queue) (d Decision, paced bool) {
	if d, decided := c.budget.decide(now, c.inFlight); decided {
		return d, false
	}
	switch {
	case c.health.state != Up:
		return c.probe(now, q), false
	case !q.First && !q.Retry:
		return Decision{}, false
	case c.flight.blocks(now, c.inFlight):
		return Decision{}, false
	}
	if wait := c.pace.wait(now); wait > 0 {
		c.grow(now)
		return Decision{For: wait}, true
	}
	if q.Retry && (!q.First || c.credit >= 1) {
		return Decision{Action: SendRetry}, false
	}
	return Decision{Action: SendFirst}, false
}

// grow raises the rate, which holds requests back, while the service answers and no cut is on
// trial.
func (c *Controller) grow(now time.Time) {
	latency := c.flight.latency()
	if c.pressure.trial.cuts > 0 {
		c.pace.grown = now
		return
	}
	if now.Sub(c.health.lastOK) < max(200*time.Millisecond, 4*latency) || c.flight.slow(now, c.health.start) {
		c.pace.grow(now, c.span().unit, latency)
	}
}

// Try takes a permit for a first attempt, if one may be sent now.
func (c *Controller) Try(now time.Time) (Permit, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d, _ := c.decide(now, Queue{First: true}); d.Action != SendFirst {
		return Permit{}, false
	}
	return c.begin(now, true), true
}

// begin takes a permit for an attempt that is sent now.
func (c *Controller) begin(now time.Time, first bool) Permit {
	if first {
		c.credit = min(c.credit+retryShare, retryCredit)
	} else {
		c.credit = max(c.credit-1, 0)
	}
	c.inFlight++
	c.budget.begin()
	c.pace.begin(now)
	p := Permit{first: first, sent: now, inFlight: c.inFlight, full: c.inFlight >= c.flight.most}
	if c.flight.slow(now, c.health.start) {
		p.accepted = true
		c.accept(now, c.span())
	}
	if c.health.state != Up {
		p.probe = true
		c.health.probing = true
	}
	return p
}

// End gives a permit back.
func (c *Controller) End(now time.Time, p Permit, r Result) Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	c.budget.end(r)
	if p.probe {
		c.health.probing = false
	}
	before := c.health
	switch r.Outcome {
	case Answered:
		c.answered(now, p)
	case Refused, Failed:
		c.failed(now, p, r)
	case Unsent:
		c.flight.cut(now, c.inFlight)
	}
	c.pace.state(r.Rate, now)
	c.heed(now, p, r)
	return c.change(now, before)
}

// Suspect doubts the service, though it responds: it refuses one input after another. Nothing
// but SendKnown is sent until such a request is answered.
func (c *Controller) Suspect(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.health.state == Up {
		c.health.doubt(now, now)
		c.health.since = now
	}
	c.health.suspect = true
}

// change compares the state with an earlier one.
func (c *Controller) change(now time.Time, before health) Change {
	change := Change{Wake: c.waiting}
	c.waiting = false
	switch {
	case c.health.state == Out && before.state != Out:
		change.State = Out
	case before.state == Out && c.health.state == Up:
		change.State, change.After = Up, now.Sub(before.since)
	}
	return change
}

func (c *Controller) answered(now time.Time, p Permit) {
	c.flight.answered(now, p, c.inFlight+1)
	span := c.span()
	if !p.accepted && !p.sent.Before(c.pressure.since) {
		c.accept(now, span)
	}
	c.flight.grow(now, span.unit)
	if c.health.answered(now, p) {
		c.resume(now)
	}
}

// resume goes on after a doubt.
func (c *Controller) resume(now time.Time) {
	c.pace.resume(now, c.flight.latency() > 0)
	c.pressure.trial = trial{}
	c.pressure.begin(now)
}

func (c *Controller) failed(now time.Time, p Permit, r Result) {
	c.pressure.failed(now, p, r, c.span(), c.flight.latency())
	if c.health.state == Up {
		c.pressed(now)
	}
	share := 0.0 // an input may be to blame, which only a question to the account can settle
	if p.first || c.options.CanAsk {
		share = c.pressure.recent.share()
	}
	c.health.failed(now, p, share, c.flight.latency())
}

// span is how long attempts count: those of late, and those of the last moment. Both are long
// enough for the attempts to tell something. Rates grow by the unit.
type span struct{ unit, moment time.Duration }

func (c *Controller) span() span {
	const attempts = 30
	var least time.Duration
	if c.pace.rate < mostRate {
		least = min(seconds(attempts/c.pace.rate), time.Hour)
	}
	unit := max(time.Second, 3*c.pressure.took, least)
	return span{unit: unit, moment: max(unit/8, least)}
}

// MostInFlight is the number of attempts that are never exceeded.
func (c *Controller) MostInFlight() int { return c.options.InFlight }

// Learned is the rate to start the next run with; 0 if no limit has shown.
func (c *Controller) Learned() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pace.ceiling
}

// Rate is the present rate in requests a second; infinite without a limit.
func (c *Controller) Rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pace.rate
}

// seconds is safe for any number.
func seconds(s float64) time.Duration {
	if s > math.MaxInt64/1e10 {
		return math.MaxInt64 / 10
	}
	return time.Duration(s * float64(time.Second))
}
