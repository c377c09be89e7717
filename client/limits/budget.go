package limits

import (
	"fmt"
	"math"
	"time"
)

// Limit names a bound of the requests that a run may spend.
type Limit uint8

// The limits.
const (
	MaxRequests Limit = iota + 1 // the most requests of the run
	Reserve                      // requests of the quota that the run must leave
)

// String is the name of the option: "MaxRequests" or "Reserve".
func (l Limit) String() string {
	if l == MaxRequests {
		return "MaxRequests"
	}
	return "Reserve"
}

// SpentError says that the run has reached a Limit.
type SpentError struct {
	Limit Limit
	Value int64
	// Shards is the number of runs that share the quota, if the quota is shared and Limit is Reserve; else 0.
	Shards int
	Err    error // why the quota left is unknown; nil if it is known
}

func (e *SpentError) Error() string {
	bound := fmt.Sprintf("the limit of %d requests", e.Value)
	if e.Limit == Reserve {
		bound = fmt.Sprintf("the reserve of %d requests", e.Value)
	}
	switch {
	case e.Err != nil && e.Shards > 0:
		return fmt.Sprintf("the shard's part of the quota is unknown: the service does not say what is left: %v", e.Err)
	case e.Err != nil:
		return fmt.Sprintf("%s cannot be kept: the service does not say what is left: %v", bound, e.Err)
	case e.Shards > 0 && e.Value > 0:
		return fmt.Sprintf("the shard's part of the quota is used up: fewer than %d requests beside %s are left for %[1]d shards", e.Shards, bound)
	case e.Shards > 0:
		return fmt.Sprintf("the shard's part of the quota is used up: fewer than %d requests are left for %[1]d shards", e.Shards)
	}
	return bound + " is reached"
}

func (e *SpentError) Unwrap() error { return e.Err }

// OptionName returns "limits.MaxRequests" or "limits.Reserve"; "" for a shard without a reserve.
func (e *SpentError) OptionName() string {
	if e.Shards > 0 && e.Value == 0 {
		return ""
	}
	return "limits." + e.Limit.String()
}

// budget counts the requests that the run may still make. Services charge requests at different times, and do not charge some.
// Therefore budget takes one unit of quota for every request. Once no unit is left and no request is in flight, the service is
// asked for its quota.
type budget struct {
	max     int64 // requests; 0 for no bound
	reserve int64 // requests of the quota to leave; negative for no bound
	wait    bool  // wait for quota instead of stopping
	shards  int   // see Options.Shards

	made int64 // requests, including requests of earlier starts
	left int64 // requests until the service must be asked for its quota

	empty bool        // the quota is used up, and the run waits
	tries int         // consecutive failures to get the quota
	ask   time.Time   // when to ask for the quota again
	began time.Time   // when the service said that the quota is used up
	since time.Time   // when the service said that the quota is used up, or the end of a wait of up to pollLast that it stated
	spent *SpentError // why the run stops; nil while it continues
}

const (
	quotaTries = 8 // failed questions, over about two minutes, after which a run stops unless it waits for quota

	// A run that waits for quota asks for it again after a fixed share of the time waited, between pollFirst and pollLast.
	// Quotas are renewed by the hour, the day or the month.
	pollFirst  = 10 * time.Second
	pollLast   = 10 * time.Minute // after a day of waiting, ten minutes are little
	pollGrowth = 8                // 40 questions in the first hour
	pollEnds   = 15 * time.Minute // wait until a service that does not tell its quota gets a request, which shows whether quota is left
)

func newBudget(o Options) budget {
	b := budget{max: o.MaxRequests, made: o.Made, reserve: o.Reserve, wait: o.WaitForQuota, shards: o.Shards}
	if !o.KeepReserve {
		b.reserve, b.left = -1, math.MaxInt64
	}
	return b
}

// decide returns the decision if the budget allows no request, and false if it allows one.
func (b *budget) decide(now time.Time, inFlight int) (Decision, bool) {
	switch {
	case b.spent != nil:
		return Decision{Action: Stop, Err: b.spent}, true
	case b.empty && now.Before(b.ask):
		return Decision{For: b.ask.Sub(now)}, true
	case b.empty:
		return Decision{Action: AskQuota}, true
	case b.max > 0 && b.made >= b.max && inFlight > 0: // a request in flight may turn out to be Unsent
		return Decision{}, true
	case b.max > 0 && b.made >= b.max:
		return Decision{Action: Stop, Err: &SpentError{Limit: MaxRequests, Value: b.max}}, true
	case b.left <= 0 && inFlight > 0:
		return Decision{}, true
	case b.left <= 0 && now.Before(b.ask):
		return Decision{For: b.ask.Sub(now)}, true
	case b.left <= 0:
		return Decision{Action: AskQuota}, true
	}
	return Decision{}, false
}

func (b *budget) begin() {
	b.made++
	b.left--
}

func (b *budget) end(r Result) {
	if r.Signal == Unsent || r.Unreached {
		b.made--
		b.left++
	}
}

// exhaust makes the run wait for quota. stated is the wait that the service states, or 0.
func (b *budget) exhaust(now time.Time, stated time.Duration) {
	b.empty, b.began, b.since, b.ask = true, now, now, now.Add(pollFirst)
	switch {
	case stated > pollLast: // the quota may be raised earlier
		b.ask = now.Add(pollLast)
	case stated > 0:
		b.ask = now.Add(stated + time.Second) // whole seconds may be truncated
		b.since = b.ask
	}
}

// pause is the time until the service is asked for its quota again.
func (b *budget) pause(now time.Time) time.Duration {
	return min(max(now.Sub(b.since)/pollGrowth, pollFirst), pollLast)
}

// Exhausted reports that the quota is used up, and makes the run wait until quota is left. stated is the wait that the service
// states, or 0. Exhausted returns the time until the service is asked for its quota, and whether the wait begins now.
func (c *Controller) Exhausted(now time.Time, stated time.Duration) (wait time.Duration, isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isNew = !c.budget.empty; isNew {
		c.budget.exhaust(now, stated)
	}
	return c.budget.ask.Sub(now), isNew
}

// Quota is the service's answer to the question how much quota is left.
type Quota struct {
	Left      int64 // requests
	Metered   bool  // the quota is limited; Left is valid
	Err       error // why there is no answer
	Transient bool  // the same question may succeed later
	NoProof   bool  // the answer does not prove that the service answers other requests
}

// ReportQuota passes on the service's answer about its quota. An answer without an error ends a doubt, unless it has NoProof.
func (c *Controller) ReportQuota(now time.Time, a Quota) Effect {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, b := c.reported, &c.budget
	empty := b.empty
	if c.health.state != Up && !b.empty {
		c.reportInDoubt(now, a)
		if b.ask = c.health.next; a.Err != nil || b.left > 0 {
			return c.effect(now, before)
		}
	}
	switch {
	case a.Err != nil:
		b.unknown(now, a)
	case !a.Metered:
		b.refilled(math.MaxInt64)
	case a.Left > max(b.reserve, 0):
		b.refilled(a.Left - max(b.reserve, 0))
	case b.empty:
		b.ask = now.Add(b.pause(now))
	case b.wait:
		b.exhaust(now, 0)
	default:
		b.spent = &SpentError{Limit: Reserve, Value: b.reserve, Shards: b.shards}
	}
	change := c.effect(now, before)
	change.Refilled = empty && !b.empty
	return change
}

func (c *Controller) reportInDoubt(now time.Time, a Quota) {
	if a.Err != nil || a.NoProof {
		c.health.mute = a.Err == nil
		c.health.probeFailed(now)
		return
	}
	if c.health.answered(now, Permit{sent: now}) {
		c.trip.end()
		c.resume(now)
	}
}

// refilled allows left requests.
func (b *budget) refilled(left int64) {
	b.empty, b.tries, b.left = false, 0, left
	if b.reserve < 0 {
		b.left = math.MaxInt64
	}
}

// unknown records that the service does not say how much quota is left. A run that waits for quota asks again, without end if
// the error is transient. If the run keeps no reserve, it sends a request after pollEnds.
func (b *budget) unknown(now time.Time, a Quota) {
	b.tries++
	switch {
	case b.empty && now.Sub(b.began) >= pollEnds && b.reserve < 0:
		b.refilled(0)
	case b.empty && (a.Transient || now.Sub(b.began) < pollEnds):
		b.ask = now.Add(b.pause(now))
	case !b.empty && a.Transient && (b.wait || b.tries < quotaTries):
		b.ask = now.Add(min(time.Second<<min(b.tries-1, quotaTries), probeLast)) // short enough to see the end of an outage soon
	default:
		b.spent = &SpentError{Limit: Reserve, Value: b.reserve, Shards: b.shards, Err: a.Err}
	}
}
