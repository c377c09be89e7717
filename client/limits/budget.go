package limits

import (
	"fmt"
	"math"
	"time"
)

// Limit names a bound of what a run may spend.
type Limit uint8

// The bounds.
const (
	MaxRequests Limit = iota + 1 // requests that the run may make
	Reserve                      // requests of the account that the run must leave
)

// String is the name of the flag that sets the bound.
func (l Limit) String() string {
	if l == MaxRequests {
		return "max-requests"
	}
	return "reserve"
}

// SpentError says that the run has spent what it may.
type SpentError struct {
	Limit Limit
	Value int64
	Err   error // why it is not known what is left of the account; nil where that is known
}

func (e *SpentError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("--%v %d cannot be kept to: the service does not say what is left: %v", e.Limit, e.Value, e.Err)
	}
	return fmt.Sprintf("--%v %d is reached", e.Limit, e.Value)
}

func (e *SpentError) Unwrap() error { return e.Err }

// budget is what the run may spend. Every request may cost one until the account was asked
// while none was in flight, for services differ in when they charge a request, and whether.
type budget struct {
	max     int64 // requests; 0 for no bound
	reserve int64 // of the account; negative for no bound
	wait    bool  // for the account to be filled

	made int64
	left int64 // requests that may be made before the account is asked again

	empty bool          // nothing is left of the account, and the run waits
	tries int           // to ask the account that have failed in a row
	ask   time.Time     // when to ask again
	pause time.Duration // between questions while nothing is left
	spent *SpentError   // the end of the run
}

const (
	accountTries = 8 // over two minutes, before the service counts as unwilling to say
	accountRetry = time.Second

	// pollFirst doubles up to pollLast while nothing is left: quotas come back by the hour,
	// the day or the month.
	pollFirst = time.Minute
	pollLast  = 10 * time.Minute
)

func newBudget(o Options) budget {
	b := budget{max: o.MaxRequests, reserve: o.Reserve, wait: o.WaitForQuota}
	if !o.KeepReserve {
		b.reserve, b.left = -1, math.MaxInt64
	}
	return b
}

// decide says what to do where nothing may be sent.
func (b *budget) decide(now time.Time, inFlight int) (Decision, bool) {
	switch {
	case b.spent != nil:
		return Decision{Action: Stop, Err: b.spent}, true
	case b.empty && now.Before(b.ask):
		return Decision{For: b.ask.Sub(now)}, true
	case b.empty:
		return Decision{Action: AskAccount}, true
	case b.max > 0 && b.made >= b.max && inFlight > 0: // one may turn out not to have been sent
		return Decision{}, true
	case b.max > 0 && b.made >= b.max:
		return Decision{Action: Stop, Err: &SpentError{Limit: MaxRequests, Value: b.max}}, true
	case b.left <= 0 && inFlight > 0:
		return Decision{}, true
	case b.left <= 0 && now.Before(b.ask):
		return Decision{For: b.ask.Sub(now)}, true
	case b.left <= 0:
		return Decision{Action: AskAccount}, true
	}
	return Decision{}, false
}

func (b *budget) begin() {
	b.made++
	b.left--
}

func (b *budget) end(r Result) {
	if r.Outcome == Unsent {
		b.made--
		b.left++
	}
}

// exhaust has the run wait for the account.
func (b *budget) exhaust(now time.Time) {
	b.empty, b.pause = true, pollFirst
	b.ask = now.Add(b.pause)
}

// Exhausted has the run wait until something is left of the account again. The answer says
// whether that is news.
func (c *Controller) Exhausted(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	news := !c.budget.empty
	if news {
		c.budget.exhaust(now)
	}
	return news
}

// Account is what the service says of the account.
type Account struct {
	Left    int64 // requests
	Metered bool  // Left is a number; else nothing bounds the requests
	Err     error // why the service does not say
	Passing bool  // Err may pass
}

// Told takes note of what the service says of the account. The answer also settles a doubt:
// where the account is known, the service is up.
func (c *Controller) Told(now time.Time, a Account) Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, b := c.health, &c.budget
	empty := b.empty
	if c.health.state != Up && !b.empty {
		c.toldInDoubt(now, a)
		return c.change(now, before)
	}
	switch {
	case a.Err != nil:
		b.unknown(now, a)
	case !a.Metered:
		b.filled(math.MaxInt64)
	case a.Left > max(b.reserve, 0):
		b.filled(a.Left - max(b.reserve, 0))
	case b.empty:
		b.pause = min(2*b.pause, pollLast)
		b.ask = now.Add(b.pause)
	case b.wait:
		b.exhaust(now)
	default:
		b.spent = &SpentError{Limit: Reserve, Value: b.reserve}
	}
	change := c.change(now, before)
	change.Filled = empty && !b.empty
	return change
}

func (c *Controller) toldInDoubt(now time.Time, a Account) {
	if a.Err != nil {
		c.health.probeFailed(now)
		return
	}
	if c.health.answered(now, Permit{sent: now}) {
		c.resume(now)
	}
}

// filled has the run go on.
func (b *budget) filled(left int64) {
	b.empty, b.tries, b.left = false, 0, left
	if b.reserve < 0 {
		b.left = math.MaxInt64
	}
}

// unknown takes note that the service does not say what is left. While nothing is left, that
// is asked for a while, and then the next request shows.
func (b *budget) unknown(now time.Time, a Account) {
	b.tries++
	switch {
	case b.empty && b.pause < pollLast:
		b.pause *= 2
		b.ask = now.Add(b.pause)
	case b.empty && b.reserve < 0:
		b.filled(0)
	case a.Passing && b.tries < accountTries:
		b.ask = now.Add(accountRetry << (b.tries - 1))
	default:
		b.spent = &SpentError{Limit: Reserve, Value: b.reserve, Err: a.Err}
	}
}
