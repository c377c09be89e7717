package limits

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Learned is what a run has learned of a service, for the next run. Fields are 0 if nothing is known.
type Learned struct {
	Rate    float64       // requests a second that the service has served for a while
	Refused float64       // requests a second at the last cut, or more if more has been served since
	Number  int           // of requests in a window
	Window  time.Duration // the length of the window
	Silence time.Duration // the length of the last block: from a total refusal until the service admitted requests again
	At      time.Time     // the end of the last block, or the last probe in a block that has not ended
	Refuses bool          // the service has refused a request (Refused): it does not limit by failures
}

// isFresh reports whether the last block ended a short time ago, as in an earlier start of the same run. If the earlier start
// ended before the block, Silence is too short.
func (l Learned) isFresh(now time.Time) bool {
	return l.Silence > 0 && now.Sub(l.At) < max(retryAge*l.Silence, longSilence)
}

// Counts reports whether a run begins with what was learned: the caller gives no rate (0), or a lower rate has caused a block a
// short time ago.
func (l Learned) Counts(rate float64, now time.Time) bool {
	return rate == 0 || !math.IsInf(rate, 1) && l.Refused > 0 && l.Refused < rate && l.isFresh(now)
}

// String describes what is known, for a log.
func (l Learned) String() string {
	if l.Refuses = false; l == (Learned{}) {
		return "nothing"
	}
	known := []string{fmt.Sprintf("%.3g requests/s", l.Rate)}
	if l.Number > 0 {
		known = append(known, fmt.Sprintf("%d requests in %v", l.Number, l.Window.Round(time.Second/10)))
	}
	if l.Silence > 0 {
		known = append(known, fmt.Sprintf("%v of silence after a block", l.Silence.Round(time.Second/10)))
	}
	return strings.Join(known, ", ")
}

// IsValid reports whether a run can have learned l. A stored value may be damaged.
func (l Learned) IsValid() bool {
	const longest = 31 * 24 * time.Hour // of windows and blocks
	return l.Rate >= 0 && l.Rate < mostRate && l.Refused >= 0 && l.Number >= 0 && (l.Number == 0) == (l.Window == 0) &&
		l.Window >= 0 && l.Window <= longest && l.Silence >= 0 && l.Silence <= longest
}

// Learned is what the run has learned so far. The rate is 0 if the run has met no limit.
func (c *Controller) Learned() Learned {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, t, earlier := c.pace, &c.trip, c.earlier
	l := Learned{Silence: t.silence, At: t.last, Refuses: c.faults.refuses || c.faults.refused}
	if c.isBlocked() { // the run may end in this block
		l.At = c.health.probed.sent
		l.Silence = max(l.Silence, l.At.Sub(t.at))
		p.trip(l.At, t.rate, 0, t.first.sent.Sub(t.phase.began), l.Silence, 0)
	}
	if l.Rate, l.Refused = p.served, p.refused; p.refused > 0 {
		l.Refused = max(p.refused, p.rate)
	}
	switch {
	case l.Refused == 0 && l.Rate < earlier.Refused: // the caller's limit was lower
		l.Rate, l.Refused = max(l.Rate, earlier.Rate), earlier.Refused
	case l.Rate > 0:
	case earlier.Rate > 0 && l.Refused == 0:
		l.Rate = earlier.Rate
	case earlier.Rate > 0:
		l.Rate = min(earlier.Rate, l.Refused*yielded)
	case p.lost > 0: // since a block, no rate was kept for long
		l.Rate = min(p.rate, l.Refused*yielded)
	case l.Refused > 0: // the run was short
		l.Rate = min(p.kept, l.Refused*yielded)
	}
	switch {
	case c.window.number > 0:
		l.Number, l.Window = c.window.number, c.window.length
	case c.options.Learned != earlier: // the window that was known did not count
		l.Number, l.Window = earlier.Number, earlier.Window
	}
	return l
}

// isBlocked reports whether the run is in a block that its rate has caused: requests were sent at that rate for a second, but
// not for a minute.
func (c *Controller) isBlocked() bool {
	t, h := &c.trip, &c.health
	return h.refusing && !h.closed && t.certain && h.probed.sent.Sub(t.at) >= shortestBlock &&
		t.phase.number >= tellsNothing && t.first.sent.Sub(t.phase.began) >= shortestBlock && t.first.sent.Sub(c.pace.cut) < longSilence
}
