package limits

import (
	"math"
	"sync"
	"time"
)

// Options describe a Controller. The zero value learns the rate, sets no other bound, and waits
// for a service that is out for as long as the outage lasts.
type Options struct {
	Rate     float64 // the most requests a second; 0 to learn the rate; math.Inf(1) to start without a limit
	Burst    int     // requests at once within Rate; default 1: requests are evenly spaced
	Learned  float64 // the rate, in requests a second, that an earlier run has learned; 0 for none
	Trial    int     // the most attempts at once before the first answer; default 1024
	InFlight int     // the most attempts at once; default DefaultInFlight

	// Background is the share of first attempts that fails at any rate, as an earlier run has learned.
	Background float64

	MaxWait   time.Duration // the longest wait that one response can cause; default 15 minutes
	MaxOutage time.Duration // the longest outage that the run waits for; 0 for no bound

	MaxRequests  int64 // the most requests of the run; 0 for no bound
	KeepReserve  bool  // leave Reserve requests of the quota
	Reserve      int64
	Shards       int  // that share the quota: the service tells this run its part; 0 for a run of its own
	WaitForQuota bool // wait when the quota is used up, instead of stopping
	CanAsk       bool // the service says, as far as is known, how much quota is left
}

// DefaultInFlight is more than the rate times the latency of any service seen, and a fraction of
// a machine's ports.
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

// Signal is what the end of an attempt says about the service.
type Signal uint8

// The signals.
const (
	Answered   Signal = iota + 1 // the service works: an answer, a rejection of the input, or "still calculating"
	Refused                      // the service says that the caller asks too much
	Failed                       // any other failure that may pass
	Unsent                       // this machine could not send the request
	OutOfQuota                   // the quota is used up
	Canceled                     // the caller has canceled the attempt
)

// Result is the content of a response. Fields that the response does not state are zero.
type Result struct {
	Signal Signal
	Broken bool          // a failure of the connection, perhaps shared by other attempts
	Wait   time.Duration // until the next request, as the service asks
	Rate   float64       // requests a second that the service states as its limit
}

// Permit is the right to make one attempt.
type Permit struct {
	first    bool // the first attempt for its input
	probe    bool // the service is in doubt
	sent     time.Time
	inFlight int  // attempts in flight, this one included
	full     bool // the number in flight is at its bound
	accepted bool // counted as a success until it fails: the service is slow
}

// Action is what the caller does next.
type Action uint8

// The actions.
const (
	Wait      Action = iota // for Decision.For, or until a Change has Wake
	SendFirst               // a first attempt
	SendRetry               // a retry
	SendKnown               // a request that was answered before, as a test of the service (see Suspect)
	AskQuota                // ask the service for the quota left, and call ReportQuota
	Stop                    // end the run with Decision.Err
)

// Decision says what to do next.
type Decision struct {
	Action Action
	Permit Permit        // for SendFirst, SendRetry and SendKnown
	For    time.Duration // for Wait; 0 to wait for a Change
	Err    error         // for Stop: a *SpentError or an *OutageError
}

// Queue says which requests wait to be sent.
type Queue struct {
	First bool // a first attempt
	Retry bool // a retry that is due
	Later bool // a retry that is not due yet
}

// Change says what an event has changed.
type Change struct {
	Wake  bool          // the last decision to wait may be out of date
	State State         // the new state of the service; 0 if the state is unchanged
	After time.Duration // the length of the outage, when State is Up

	Refilled bool // the quota is no longer used up
}

// A Controller decides when requests are sent; see the package comment. It is safe for concurrent use.
type Controller struct {
	options Options

	mu       sync.Mutex
	pace     pace
	flight   flight
	pressure pressure
	health   health
	budget   budget
	unbroken unbroken
	credit   float64 // retries that may precede the next first attempt
	inFlight int
	waiting  bool // the caller waits for a Change
}

// unbroken is what the controller knew when a connection first failed after an answer. If the failures turn out
// to be a doubt, as when a service dies, the cuts meanwhile say nothing about the limits of the service.
type unbroken struct {
	at      time.Time
	ceiling float64
	most    int
}

// New returns a controller for a run that starts now.
func New(o Options, now time.Time) *Controller {
	o = o.withDefaults()
	c := &Controller{options: o, health: newHealth(now), budget: newBudget(o)}
	c.pace = newPace(o, now)
	c.flight = newFlight(o, now)
	c.pressure.begin(now)
	c.pressure.background = o.Background
	return c
}

const (
	// retryShare is the number of retries per first attempt while both wait: few enough for new
	// work to go on, and enough for a service that fails every third request.
	retryShare = 0.5
	// retryCredit is the most retries in a row while first attempts wait.
	retryCredit = 8
)

// Next says what to do now. If the decision is to send, the attempt counts as in flight until
// [Controller.End].
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

// decide also reports whether the decision is to wait for the pace: events hardly shorten such a
// wait.
func (c *Controller) decide(now time.Time, q Queue) (d Decision, paced bool) {
	if c.budget.empty || q != (Queue{}) || c.health.suspect { // else nothing needs a request: the last may have been sent
		if d, decided := c.budget.decide(now, c.inFlight); decided {
			return d, false
		}
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

// grow raises the rate while the rate holds requests back, the service answers, and no experiment
// is under way.
func (c *Controller) grow(now time.Time) {
	latency := c.flight.latency()
	if c.pressure.experiment.cuts > 0 {
		c.pace.grown = now
		return
	}
	if now.Sub(c.health.lastOK) < max(200*time.Millisecond, 4*latency) || c.flight.slow(now, c.health.start) {
		c.pace.grow(now, c.span().unit, latency)
	}
}

// Try returns a permit for a first attempt, and false if no first attempt may be sent now.
func (c *Controller) Try(now time.Time) (Permit, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d, _ := c.decide(now, Queue{First: true}); d.Action != SendFirst {
		return Permit{}, false
	}
	return c.begin(now, true), true
}

// begin returns the permit of an attempt that is sent now.
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

// End returns a permit with the result of its attempt. Each permit is returned once.
func (c *Controller) End(now time.Time, p Permit, r Result) Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	c.budget.end(r)
	if p.probe {
		c.health.probing = false
	}
	before := c.health
	switch r.Signal {
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

// Suspect puts the service in doubt although it responds: it rejects one input after another.
// Until a request of SendKnown is answered, no other request is sent.
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

// resume sets the pace after a doubt.
func (c *Controller) resume(now time.Time) {
	if u := c.unbroken; !u.at.Before(c.health.since) {
		c.pace.ceiling, c.flight.most = u.ceiling, u.most
	}
	c.pace.resume(now, c.flight.latency() > 0)
	c.pressure.experiment = experiment{}
	c.pressure.begin(now)
}

func (c *Controller) failed(now time.Time, p Permit, r Result) {
	if r.Broken && c.unbroken.at.Before(c.health.lastOK) {
		c.unbroken = unbroken{now, c.pace.ceiling, c.flight.most}
	}
	c.pressure.failed(now, p, r, c.span(), c.flight.latency())
	if c.health.state == Up {
		c.pressed(now)
	}
	share := 0.0 // the input may be the cause of a retry's failure: only asking for the quota can tell
	if p.first || c.options.CanAsk {
		share = c.pressure.recent.share()
	}
	var longest time.Duration
	if c.inFlight > 0 {
		longest = 4 * c.flight.latency()
	}
	c.health.failed(now, p, share, longest)
}

// span is how long attempts count: unit for recent ones, moment for the latest ones. Both span at
// least 30 attempts. Growth is measured in units.
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

// MostInFlight is the upper bound of the number of attempts in flight.
func (c *Controller) MostInFlight() int { return c.options.InFlight }

// Learned is the rate, in requests a second, to start the next run with; 0 if the run has met no
// limit.
func (c *Controller) Learned() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pace.ceiling
}

// Background is the share of first attempts that fails at any rate, to start the next run with.
func (c *Controller) Background() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pressure.background
}

// Rate is the present rate in requests a second; +Inf without a limit.
func (c *Controller) Rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pace.rate
}

// seconds converts a number of seconds and caps it, because a large number overflows a Duration.
func seconds(s float64) time.Duration {
	if s > math.MaxInt64/1e10 {
		return math.MaxInt64 / 10
	}
	return time.Duration(s * float64(time.Second))
}
