package limits

import (
	"math"
	"time"
)

// flight bounds the number of attempts in flight.
type flight struct {
	limit int // by the caller
	most  int // after pressure, with growth since
	queue queue

	cutAt time.Time // when most was lowered
	grown time.Time // when growth was last looked at
	full  time.Time // when most last held a request back

	peaks   [2]int    // in flight when answers came, in this period and in the last
	rotated time.Time // when this period began
}

const (
	peakPeriod   = time.Second
	flightGrowth = 0.02 // of the number, in a unit, when growth begins
	flightHold   = 2    // units after a cut in which the number does not grow
)

func newFlight(o Options, now time.Time) flight {
	return flight{limit: o.InFlight, most: o.InFlight, cutAt: now, grown: now, rotated: now, queue: newQueue(now)}
}

// blocks says whether as many attempts are in flight as may be.
func (f *flight) blocks(now time.Time, inFlight int) bool {
	f.queue.peak = max(f.queue.peak, inFlight)
	if inFlight >= f.most {
		f.full = now
		return true
	}
	return inFlight >= f.limit || f.queue.blocks(now, inFlight)
}

func (f *flight) answered(now time.Time, p Permit, inFlight int) {
	if now.Sub(f.rotated) > peakPeriod {
		f.peaks = [2]int{0, f.peaks[0]}
		f.rotated = now
	}
	f.peaks[0] = max(f.peaks[0], inFlight)
	f.queue.answered(now, p)
}

// peak is the largest number in flight at which answers came of late.
func (f *flight) peak() int {
	if peak := max(f.peaks[0], f.peaks[1]); peak > 0 {
		return peak
	}
	return f.most
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
	units := now.Sub(f.cutAt).Seconds()/unit.Seconds() - flightHold
	if units >= 0 {
		gain := min(flightGrowth*math.Exp2(units), mostGrowth) / 4
		f.most = min(f.limit, f.most+max(1, int(float64(f.most)*gain)))
	}
}

func (f *flight) latency() time.Duration { return f.queue.mean }

// slow says whether answers take so long that refusals come well before them.
func (f *flight) slow(now, start time.Time) bool {
	const early = 200 * time.Millisecond
	return f.queue.mean > time.Second || f.queue.mean == 0 && now.Sub(start) > early
}
