package limits

import (
	"math"
	"time"
)

// concurrency bounds the number of attempts in flight.
type concurrency struct {
	limit int // the caller's bound
	most  int // the bound since the last cut, with its growth
	queue queue

	cutAt time.Time     // when most was lowered
	hold  time.Duration // the least time from a cut until most grows
	grown time.Time     // when grow last ran
	full  time.Time     // when most last held a request back
}

const (
	flightGrowth = 0.02 // share of the bound, in the first unit of growth
	flightHold   = 2    // units after a cut until the bound grows
)

func newConcurrency(o Options, now time.Time) concurrency {
	return concurrency{limit: o.InFlight, most: o.InFlight, cutAt: now, grown: now, queue: newQueue(o.Trial, now)}
}

// blocks reports whether the number in flight is at a bound.
func (c *concurrency) blocks(now time.Time, inFlight int) bool {
	c.queue.peak = max(c.queue.peak, inFlight)
	if inFlight >= c.most {
		c.full = now
		return true
	}
	return inFlight >= c.limit || c.queue.blocks(now, inFlight)
}

func (c *concurrency) answered(now time.Time, p Permit) {
	c.queue.answered(now, p)
}

func (c *concurrency) cut(now time.Time, most int) {
	if most < c.most {
		c.most = max(1, most)
		c.cutAt = now
	}
}

// grow raises the bound while it holds requests back: slowly after a cut, then faster.
func (c *concurrency) grow(now time.Time, unit time.Duration) {
	if c.most >= c.limit || now.Sub(c.full) > unit/2 || now.Sub(c.grown) < unit/4 {
		return
	}
	c.grown = now
	units := (now.Sub(c.cutAt)-c.hold).Seconds()/unit.Seconds() - flightHold
	if units >= 0 {
		gain := min(flightGrowth*math.Exp2(units), mostGrowth) / 4
		c.most = min(c.limit, c.most+max(1, int(float64(c.most)*gain)))
	}
}

func (c *concurrency) latency() time.Duration { return c.queue.mean }

// slow reports whether answers take so long that refusals come well before them.
func (c *concurrency) slow(now, start time.Time) bool {
	const early = 200 * time.Millisecond
	return c.queue.mean > time.Second || c.queue.mean == 0 && now.Sub(start) > early
}
