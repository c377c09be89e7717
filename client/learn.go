package client

import (
	"math"
	"time"
)

// learner finds the rate that a service allows, from what becomes of requests: additive
// increase, multiplicative decrease, with a memory of where the limit was. It only does
// arithmetic on the times it is given.
//
// It has three gaits. While no limit has shown, the rate doubles in a few round trips.
// Once one has, the rate stays just under it. Now and then it probes, gently at first
// and faster while nothing happens, for the limit may have moved.
type learner struct {
	rate    float64 // requests a second, now
	limit   float64 // where the service refused last; 0 while it never has
	coarse  bool    // the limit was met at a run: it may be well above
	stated  float64 // the limit that the service told last; 0 while it never has
	latency time.Duration

	cut      time.Time // when the rate was last cut
	grown    time.Time // when the rate was last looked at for growing
	probe    time.Time // when to begin to probe
	interval time.Duration

	starts tally   // of requests, but for those refused
	passed float64 // of them since the cut
}

const (
	firstRate = 20.0 // requests a second: gentle, and at hundreds within a second or two
	leastRate = 0.1

	underLimit = 0.98 // of the limit, to run at: the rest is for clocks and networks that jitter
	afterCut   = 0.95 // of the limit, to go on at: lets the service's bucket fill again
	regrowth   = 0.05 // of the limit, a second, from there to just under it

	probeGrowth   = 0.01             // of the rate, a second, at the start of a probe
	coarseGrowth  = 0.05             // the same while the limit is known coarsely
	probeDoubling = 10 * time.Second // of that growth
	probeCoarse   = 2 * time.Second  // after the first cut
	probeFirst    = 30 * time.Second // after a cut; longer each time the limit is found where it was
	probeLast     = 5 * time.Minute
	sameLimit     = 0.05 // of the limit: a smaller change is none
	nearly        = 0.8  // of the rate got through since the cut: it was nearly deep enough

	measured = time.Second // of sending, to tell the service's limit from
	watched  = 200 * time.Millisecond
	lookAt   = 10 * time.Millisecond // how often growth is looked at
)

func newLearner(start float64, now time.Time) *learner {
	l := &learner{rate: firstRate, interval: probeFirst, grown: now}
	if start > 0 { // of an earlier run: where the limit was then
		l.limit, l.rate = start, max(start*afterCut, leastRate)
		l.probe = now.Add(probeFirst)
	}
	return l
}

// started takes note of a request that is sent now.
func (l *learner) started(now time.Time) {
	l.starts.add(now, 1)
	l.passed++
}

// answered takes note of an answer to a request and lets the rate grow.
func (l *learner) answered(sent, now time.Time) {
	l.latency += (now.Sub(sent) - l.latency) / 8
	elapsed := now.Sub(l.grown)
	if elapsed < lookAt {
		return
	}
	l.grown = now
	if now.Sub(l.cut) < watched+l.latency || !l.used(sent) {
		return // too early to tell, or the rate is not what holds us back
	}
	seconds := min(elapsed, time.Second).Seconds()
	switch {
	case l.limit == 0:
		doubling := max(250*time.Millisecond, 4*l.latency)
		l.rate *= math.Exp2(seconds / doubling.Seconds())
	case l.rate < l.limit*underLimit:
		l.rate = min(l.limit*underLimit, l.rate+l.limit*regrowth*seconds)
	case l.stated > 0: // the service says where its limit is
	case !now.Before(l.probe):
		growth := probeGrowth
		if l.coarse {
			growth = coarseGrowth
		}
		growth *= math.Exp2(min(now.Sub(l.probe).Seconds()/probeDoubling.Seconds(), 6))
		l.rate *= 1 + growth*seconds
	}
	l.rate = min(l.rate, 1e6)
}

// used says whether requests were lately sent at about the rate.
func (l *learner) used(sent time.Time) bool {
	count := l.starts.count(sent.Add(-watched), sent)
	return float64(count)+1 >= 0.5*l.rate*watched.Seconds()
}

// refused takes note of a refusal by the service's limit, and says whether it is news:
// of the burst that met the limit only the first is, for the others were on their way
// before the rate was cut.
func (l *learner) refused(sent, now time.Time) bool {
	l.starts.add(sent, -1)
	if !sent.After(l.cut) && !l.cut.IsZero() {
		return false
	}
	l.passed--
	found := l.rate
	if from := sent.Add(-measured); now.Sub(from) < tallySpan { // else nobody knows any more
		found = min(found, float64(l.starts.count(from, sent))/measured.Seconds())
	}
	coarse := l.coarse
	switch l.coarse = false; {
	case coarse && l.soon(now): // the guess was too high; what got through since is a better one
		found = max(0.8*l.rate, min(l.rate, l.between(now)))
		l.coarse, l.interval = true, probeCoarse
	case l.insists(now): // the last cut was not deep enough; this one may well be too deep
		found = l.rate * 0.8
		l.coarse, l.interval = true, probeCoarse
	case l.limit == 0: // a doubling ago there was no refusal yet
		found = max(found, l.rate/2)
		l.coarse, l.interval = true, probeCoarse
	case math.Abs(found-l.limit) <= sameLimit*l.limit:
		l.interval = min(max(2*l.interval, probeFirst), probeLast)
	default:
		l.interval = probeFirst
	}
	l.settle(l.refine(found, now), now)
	return true
}

// insists says whether the service still refuses soon after a cut, and much. A cut that
// was nearly deep enough is met again after a second or two, when the service's bucket is
// empty; that is an ordinary refusal.
func (l *learner) insists(now time.Time) bool {
	return l.soon(now) && l.between(now) < nearly*l.rate
}

// soon says whether the last cut was but a moment ago.
func (l *learner) soon(now time.Time) bool { return !l.cut.IsZero() && now.Sub(l.cut) < 2*measured }

// between is the rate of what got through since the last cut.
func (l *learner) between(now time.Time) float64 { return l.passed / now.Sub(l.cut).Seconds() }

// refine corrects a found limit by what got through since the last refusal. The last
// second has some of the service's bucket in it, so found is a little high; the time
// between two refusals, when the bucket was empty at both, is right or a little low.
func (l *learner) refine(found float64, now time.Time) float64 {
	between := l.between(now)
	if l.cut.IsZero() || now.Sub(l.cut) < measured || between < nearly*found || between > found {
		return found
	}
	return (between + found) / 2
}

// told takes note of a limit that the service states.
func (l *learner) told(perSecond float64, now time.Time) {
	if perSecond > 0 {
		l.stated = perSecond
	}
	if perSecond <= 0 || l.limit > 0 && math.Abs(perSecond-l.limit) <= sameLimit*l.limit {
		return
	}
	if l.rate > perSecond*underLimit {
		l.settle(perSecond, now)
		return
	}
	l.limit, l.probe = perSecond, now.Add(l.interval)
}

func (l *learner) settle(limit float64, now time.Time) {
	l.limit = max(limit, leastRate)
	l.rate = max(l.limit*afterCut, leastRate)
	l.cut, l.grown, l.passed = now, now, 0
	l.probe = now.Add(l.interval)
}

// tally counts events by time, over the last seconds.
type tally struct {
	slots [tallySlots]struct {
		slot int64 // number of the slot's time
		n    int
	}
}

// tallySpan is how far back a tally goes: a refusal may be noticed some seconds after its
// request was sent, for the service is slow or usage is asked first.
const (
	tallySlots = 512
	tallySlot  = 25 * time.Millisecond
	tallySpan  = tallySlots * tallySlot
)

func (t *tally) add(at time.Time, n int) {
	slot := at.UnixNano() / int64(tallySlot)
	s := &t.slots[slot%int64(len(t.slots))]
	if s.slot != slot {
		s.slot, s.n = slot, 0
	}
	s.n += n
}

// count gives the events in [from, to), to the slot.
func (t *tally) count(from, to time.Time) int {
	n := 0
	for slot := from.UnixNano() / int64(tallySlot); slot < to.UnixNano()/int64(tallySlot); slot++ {
		if s := &t.slots[slot%int64(len(t.slots))]; s.slot == slot {
			n += s.n
		}
	}
	return n
}
