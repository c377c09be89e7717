package figures

import (
	"math"
	"time"
)

// Tick is a mark on an axis, at a position from 0 to 1.
type Tick struct {
	At   float64
	Text string
}

// mostTicks fit beside each other on a phone; with seconds in the labels, one less fits.
const mostTicks = 5

// steps are the possible distances between ticks.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

func step(span time.Duration, most time.Duration) time.Duration {
	for _, s := range steps {
		if span/s <= most {
			return s
		}
	}
	s := 2 * steps[len(steps)-1]
	for span/s > most {
		s *= 2
	}
	return s
}

// ClockTicks returns ticks at round times of day between two times, in the time zone of from.
func ClockTicks(from, to time.Time) []Tick {
	s := step(to.Sub(from), mostTicks)
	if s < time.Minute {
		s = step(to.Sub(from), mostTicks-1)
	}
	_, offset := from.Zone()
	local := from.Add(time.Duration(offset) * time.Second) // so that a tick falls on local midnight
	return ticks(local.Truncate(s).Sub(local), to.Sub(from), s, func(since time.Duration) string {
		switch t := from.Add(since); {
		case s >= time.Hour && t.Hour() == 0 && t.Minute() == 0:
			return t.Format("Jan 2")
		case s < time.Minute:
			return t.Format("15:04:05")
		default:
			return t.Format("15:04")
		}
	})
}

// ElapsedTicks returns ticks at round durations since the beginning of a span.
func ElapsedTicks(span time.Duration) []Tick { return ticks(0, span, step(span, mostTicks), Duration) }

// ticks returns ticks in a span, at a distance from each other and from first, which may lie before the span.
func ticks(first, span, distance time.Duration, text func(time.Duration) string) (list []Tick) {
	for at := first; at <= span && span > 0; at += distance {
		if at >= 0 {
			list = append(list, Tick{at.Seconds() / span.Seconds(), text(at)})
		}
	}
	return list
}

// scale returns the distance of the ticks of an axis that begins at 0, and the last tick. The distance is 1, 2 or 5 times a
// power of ten. The last tick is at least most.
func scale(most float64) (step, top float64) {
	if most <= 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return 1, 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, times := range []float64{1, 2, 5, 10} {
		if step = times * power; step*4 >= most*(1-1e-9) {
			break
		}
	}
	return step, step * math.Ceil(most/step*(1-1e-9))
}
