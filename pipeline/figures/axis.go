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
func ClockTicks(from, to time.Time) (list []Tick) {
	span := to.Sub(from)
	if span <= 0 {
		return nil
	}
	s := step(span, mostTicks)
	if s < time.Minute {
		s = step(span, mostTicks-1)
	}
	_, offset := from.Zone()
	shift := time.Duration(offset) * time.Second // so that a tick falls on local midnight
	for t := from.Add(shift).Truncate(s).Add(-shift); !t.After(to); t = t.Add(s) {
		if t.Before(from) {
			continue
		}
		format := "15:04"
		switch {
		case t.Hour() == 0 && t.Minute() == 0 && s >= time.Hour:
			format = "Jan 2"
		case s < time.Minute:
			format = "15:04:05"
		}
		list = append(list, Tick{t.Sub(from).Seconds() / span.Seconds(), t.Format(format)})
	}
	return list
}

// ElapsedTicks returns ticks at round durations since the beginning of a span.
func ElapsedTicks(span time.Duration) (list []Tick) {
	if span <= 0 {
		return nil
	}
	s := step(span, mostTicks)
	for d := time.Duration(0); d <= span; d += s {
		list = append(list, Tick{d.Seconds() / span.Seconds(), Duration(d)})
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
