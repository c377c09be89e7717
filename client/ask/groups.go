package ask

import (
	"iter"
	"time"
)

// Bounds limit a group of outcomes.
type Bounds struct {
	Outcomes int           // the most in a group
	Bytes    int           // of bodies; the outcome that reaches the bound is the last of its group
	Delay    time.Duration // that the first outcome of a group waits for others
}

// Groups returns the outcomes of a channel in the groups that are made durable together, until the channel is closed.
// The slice of a group is valid until the next group.
func Groups[T interface{ BodySize() int }](outcomes <-chan T, b Bounds) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		timer := time.NewTimer(b.Delay)
		defer timer.Stop()
		group := make([]T, 0, b.Outcomes)
		for first := range outcomes {
			timer.Reset(b.Delay)
			group = gather(append(group, first), outcomes, timer.C, b.Bytes)
			if !yield(group) {
				return
			}
			clear(group) // the outcomes may be large
			group = group[:0]
		}
	}
}

// gather adds the outcomes that come in until the time is over or the group is full.
func gather[T interface{ BodySize() int }](group []T, outcomes <-chan T, over <-chan time.Time, most int) []T {
	bytes := group[0].BodySize()
	for len(group) < cap(group) && bytes < most {
		select {
		case t, ok := <-outcomes:
			if !ok {
				return group
			}
			group = append(group, t)
			bytes += t.BodySize()
		case <-over:
			return group
		}
	}
	return group
}
