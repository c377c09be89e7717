package limits

import (
	"math"
	"sync"
	"time"
)

// Options describe a Controller. The zero value learns the rate, sets no other bound, and waits for the end of every outage.
type Options struct {
	Rate     float64 // the most requests a second, evenly spaced; 0 to learn the rate; math.Inf(1) to start without a limit
	Learned  Learned // what an earlier run has learned
	Trial    int     // the most attempts in flight before the first answer; default 16
	InFlight int     // the most attempts in flight; default DefaultInFlight

	MaxWait   time.Duration // the longest wait that one response can cause; default 15 minutes
	MaxOutage time.Duration // the longest outage that the run waits for; 0 for no bound

	MaxRequests  int64 // the most requests of the run; 0 for no bound
	Made         int64 // requests that earlier starts of the run have made
	KeepReserve  bool  // leave Reserve requests of the quota; false for no bound
	Reserve      int64
	Shards       int  // number of runs that share the quota: ReportQuota then gets this run's part; 0 if the quota is not shared
	WaitForQuota bool // wait when the quota is used up, instead of stopping
	CanAsk       bool // the service probably tells how much quota is left
}

// DefaultInFlight is more than the rate times the latency of any known service, and a fraction of a machine's ports.
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
	Answered    Signal = iota + 1 // the service works: an answer, a rejection of the input, or "still calculating"
	Refused                       // the service says that the caller asks too much
	Failed                        // any other failure that may pass
	Unavailable                   // the service says that it cannot serve now: it is out, or the caller asks too much
	Unsent                        // this machine could not send the request
	OutOfQuota                    // the quota is used up
	Canceled                      // the caller has canceled the attempt
	Stored                        // a gateway answered from its store: no proof that its upstream works
)

// Result is the content of a response. Fields that the response does not state are zero.
type Result struct {
	Signal    Signal
	Broken    bool          // the connection failed, perhaps for other attempts too
	Unreached bool          // no request was sent, or no connection could be made: no input is the cause
	Wait      time.Duration // the wait before the next request that the service asks for
	Rate      float64       // requests a second that the service states as its limit

	// The stated window: it ends after Ends, and allows Left requests until then. Ends is 0 if none is stated.
	Left int
	Ends time.Duration
}

// Permit is the right to make one attempt.
type Permit struct {
	first    bool // the first attempt for its input
	probe    bool // sent while the service is in doubt
	test     bool // a request that was answered before
	others   bool // of a test: other requests wait, which may fail again
	sent     time.Time
	inFlight int     // attempts in flight, this one included
	serial   int64   // the request's number in the run
	full     bool    // the number in flight is at its bound
	accepted bool    // counted as admitted when it was sent, because answers are slow
	rate     float64 // at which requests were sent, in requests a second
	second   float64 // requests that were sent in the second before
}

// Action is the caller's next step.
type Action uint8

// The actions.
const (
	Wait      Action = iota // for Decision.For, or until an Effect has Wake
	SendFirst               // a first attempt
	SendRetry               // a retry
	SendKnown               // a request that was answered before, to test the service (see Suspect and Queue.Spent)
	AskQuota                // ask the service for the quota left, and call ReportQuota
	Stop                    // end the run with Decision.Err
)

// Decision says what to do next.
type Decision struct {
	Action Action
	Permit Permit        // for SendFirst, SendRetry and SendKnown
	For    time.Duration // for Wait; 0 to wait for an Effect
	Err    error         // for Stop: a *SpentError or an *OutageError
}

// Queue says which requests wait to be sent.
type Queue struct {
	First bool // a first attempt
	Retry bool // a retry that is due
	Spent bool // a request without attempts left, which fails once the service is shown to work

	Known bool // a request that was answered before can be repeated: see SendKnown
	Proof bool // a request without attempts left fails only once the service is shown to work, even if no other request can show it
}

// isEmpty reports whether nothing needs a request.
func (q Queue) isEmpty() bool { return !q.First && !q.Retry && !q.Spent }

// Effect describes the changes that an event makes.
type Effect struct {
	Wake  bool          // decide again: the last decision to wait may be out of date
	State ServiceState  // the new state of the service; 0 if the state is unchanged
	After time.Duration // the length of the outage, when State is Up

	Lasting bool // the service has refused everything for a minute, and does not state when it will accept requests

	Refilled bool // quota is left again
}

// A Controller decides when requests are sent; see the package comment. It is safe for concurrent use.
type Controller struct {
	options Options
	earlier Learned // what earlier starts have learned, even if it does not count (see Learned.Counts)

	mu       sync.Mutex
	pace     pace
	flight   flight
	pressure pressure
	faults   faults
	health   health
	reported health // as the last Effect reported it
	trip     trip
	window   window
	budget   budget
	admitted counter // requests that were sent and have not been refused
	served   counter // answers
	begun    counter // all requests
	sent     int64   // requests
	lasted   bool    // an Effect with Lasting has been returned in this trip
	snapshot snapshot
	credit   float64 // retries that may precede the next first attempt
	inFlight int
	paced    bool // the caller waits for the pace: an event hardly shortens this wait
}

// New returns a controller for a run that starts now.
func New(o Options, now time.Time) *Controller {
	o = o.withDefaults()
	earlier := o.Learned
	if !earlier.Counts(o.Rate, now) {
		o.Learned = Learned{}
	}
	c := &Controller{options: o, earlier: earlier, health: newHealth(now), reported: newHealth(now), budget: newBudget(o)}
	c.pace = newPace(o, now)
	c.flight = newFlight(o, now)
	c.faults = newFaults()
	c.faults.refused = earlier.Refuses
	c.trip.phase = phase{began: now, serial: 1}
	c.trip.prior = c.trip.phase
	c.pressure.begin(now)
	c.trip.silence, c.trip.last = earlier.Silence, earlier.At
	c.window = window{number: o.Learned.Number, length: o.Learned.Window, least: o.Learned.Window, round: testNumber - 3}
	return c
}

const (
	// retryShare is the number of retries per first attempt while both wait: enough for a service that fails every third
	// request, and few enough that first attempts continue.
	retryShare = 0.5
	// retryCredit is the most retries in a row while first attempts wait.
	retryCredit = 8 // the attempts of one record
	// mostAhead bounds the rate after a cut, as a multiple of the rate of admitted requests. While the bound in flight holds
	// requests back, no request tests a higher rate, and the whole rate would be used at once when the bound grows.
	mostAhead = 6
)

// Next says what to do now. If the decision is to send, the attempt counts as in flight until
// [Controller.End].
func (c *Controller) Next(now time.Time, q Queue) Decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, paced := c.decide(now, q)
	c.paced = paced
	switch d.Action {
	case SendFirst, SendKnown:
		d.Permit = c.begin(now, true)
		if d.Action == SendKnown {
			d.Permit.test, d.Permit.others = true, q.First || c.health.refusing && q.Retry
			c.health.probed = d.Permit
		}
	case SendRetry:
		d.Permit = c.begin(now, false)
		if !q.First && c.faults.test.stage != noTest { // only first attempts could decide the test
			c.endTest(now)
		}
	}
	return d
}

// decide also reports whether the decision is to wait for the pace.
func (c *Controller) decide(now time.Time, q Queue) (d Decision, paced bool) {
	if c.budget.empty || !q.isEmpty() || c.health.suspect || q.Known && c.health.state != Up { // else no request is needed, and the budget may end with the last request
		if d, decided := c.budget.decide(now, c.inFlight); decided {
			return d, false
		}
	}
	switch {
	case c.health.state != Up:
		return c.probe(now, q), false
	case !q.First && !q.Retry:
		return Decision{}, false
	case c.flight.blocks(now, c.inFlight) && c.flight.queue.onTrial():
		return Decision{For: queueHang}, false
	case c.flight.blocks(now, c.inFlight):
		return Decision{}, false
	case c.window.full(c.trip.phase.used(c.sent+1), c.inFlight):
		c.close(now)
		return c.probe(now, q), false
	}
	if wait := c.pace.wait(now); wait > 0 {
		c.grow(now)
		return Decision{For: wait}, true
	}
	if q.Retry && (!q.First || c.credit >= 1 && !c.trip.wantsFirst()) {
		return Decision{Action: SendRetry}, false
	}
	return Decision{Action: SendFirst}, false
}

// grow raises the rate while the service answers and no test is running. The caller has found that the rate holds requests
// back.
func (c *Controller) grow(now time.Time) {
	latency := c.flight.latency()
	isAhead := c.pace.refused > 0 && c.pace.rate > mostAhead*c.admitted.perSecond(now, time.Second)+2
	if isAhead || c.faults.test.stage != noTest {
		c.pace.grown = now
		return
	}
	if now.Sub(c.health.lastOK) < max(200*time.Millisecond, 4*latency) || c.isSlow(now) {
		c.pace.grow(now, c.unit(), latency)
	}
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
	c.sent++
	c.begun.add(now, 1)
	c.admitted.add(now, 1)
	p := Permit{first: first, sent: now, serial: c.sent, inFlight: c.inFlight, full: c.inFlight >= c.flight.most, rate: c.present(now), second: c.begun.perSecond(now, time.Second)}
	if c.isSlow(now) {
		p.accepted = true
		c.accept(now, p)
	}
	if c.health.state != Up {
		p.probe = true
		c.health.probing, c.health.probed = true, p
	}
	return p
}

// present is the rate at which requests are sent. It is below the allowed rate if another bound holds requests back.
func (c *Controller) present(now time.Time) float64 {
	if c.pace.binds(now) {
		return c.pace.rate
	}
	return min(c.pace.rate, c.begun.perSecond(now, time.Second))
}

// Suspect puts the service in doubt because it rejects one input after another. Until a request of SendKnown is answered, no
// other request is sent.
func (c *Controller) Suspect(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.health.state == Up {
		c.health.beginDoubt(now)
		c.health.since = now
	}
	c.health.suspect = true
}

// unit is the time over which attempts count: at least the time of 30 attempts. Growth is measured in units.
func (c *Controller) unit() time.Duration {
	const attempts = 30
	var least time.Duration
	if c.pace.rate < mostRate {
		least = min(seconds(attempts/c.pace.rate), time.Hour)
	}
	return max(time.Second, 3*c.pressure.took, least)
}

// MostInFlight is the upper bound of the number of attempts in flight.
func (c *Controller) MostInFlight() int { return c.options.InFlight }

// Rate is the allowed rate in requests a second; +Inf without a limit.
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
