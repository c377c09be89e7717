package limits

import (
	"math"
	"time"
)

// flight bounds the number of attempts in flight.
type flight struct {
	limit int // the caller's bound
	most  int // the bound since the last cut, with its growth
	queue queue

	cutAt time.Time     // when most was lowered
	hold  time.Duration // after a cut most stays for at least so long
	grown time.Time     // when grow last ran
	full  time.Time     // when most last held a request back
}

const (
	flightGrowth = 0.02 // share of the bound, in the first unit of growth
	flightHold   = 2    // units after a cut until the bound grows
)

func newFlight(o Options, now time.Time) flight {
	return flight{limit: o.InFlight, most: o.InFlight, cutAt: now, grown: now, queue: newQueue(o.Trial, now)}
}

// blocks reports whether the number in flight is at a bound.
func (f *flight) blocks(now time.Time, inFlight int) bool {
	f.queue.peak = max(f.queue.peak, inFlight)
	if inFlight >= f.most {
		f.full = now
		return true
	}
	return inFlight >= f.limit || f.queue.blocks(now, inFlight)
}

func (f *flight) answered(now time.Time, p Permit) {
	f.queue.answered(now, p)
}

func (f *flight) cut(now time.Time, most int) {
	if most < f.most {
		f.most = max(1, most)
		f.cutAt = now
	}
}

// grow raises the bound while it holds requests back: slowly after a cut, then faster.
func (f *flight) grow(now time.Time, unit time.Duration) {
	if f.most >= f.limit || now.Sub(f.full) > unit/2 || now.Sub(f.grown) < unit/4 {
		return
	}
	f.grown = now
	units := (now.Sub(f.cutAt)-f.hold).Seconds()/unit.Seconds() - flightHold
	if units >= 0 {
		gain := min(flightGrowth*math.Exp2(units), mostGrowth) / 4
		f.most = min(f.limit, f.most+max(1, int(float64(f.most)*gain)))
	}
}

func (f *flight) latency() time.Duration { return f.queue.mean }

// slow reports whether answers take so long that refusals come well before them.
func (f *flight) slow(now, start time.Time) bool {
	const early = 200 * time.Millisecond
	return f.queue.mean > time.Second || f.queue.mean == 0 && now.Sub(start) > early
}
