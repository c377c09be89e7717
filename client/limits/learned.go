package limits

import (
	"fmt"
	"strings"
	"time"
)

// Learned is what a run has learned of a service, for the next run. Fields are 0 if nothing is known.
type Learned struct {
	Rate    float64       // requests a second that the service has served for a while
	Refused float64       // requests a second at the last cut
	Number  int           // of requests in a window
	Window  time.Duration // the length of the window
	Silence time.Duration // the length of the last block: from a total refusal until the service admitted requests again
}

// String describes what is known, for a log.
func (l Learned) String() string {
	if l == (Learned{}) {
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

// Counts reports whether a run begins at the learned rate: the caller gives no rate (0), or a lower one has caused a block.
func (l Learned) Counts(rate float64) bool {
	return l.Rate > 0 && (rate == 0 || l.Silence > 0 && l.Refused > 0 && l.Refused < rate)
}

// Learned is what the run has learned so far. The rate is 0 if the run has met no limit.
func (c *Controller) Learned() Learned {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, t, h, silence := c.pace, &c.trip, &c.health, c.trip.silence
	if lasted := h.probed.sent.Sub(t.at); h.refusing && !h.closed && t.certain && t.rate > 0 && lasted >= shortestBlock { // the run may end in this block
		silence = max(silence, lasted)
		p.trip(t.at, t.rate, 0, t.first.sent.Sub(t.phase.began), silence, 0)
	}
	l := Learned{Rate: p.served, Refused: p.refused, Silence: silence}
	switch {
	case l.Rate == 0 && l.Refused > 0 && p.lost > 0: // a block, and no rate was kept for long since
		l.Rate = min(p.rate, l.Refused*yielded)
	case l.Rate == 0:
		l.Rate = c.options.Learned.Rate
	}
	if c.window.number > 0 {
		l.Number, l.Window = c.window.number, c.window.length
	}
	return l
}
