package ask

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A group ends with its time, its number, its bytes or the channel.
func TestGroups(t *testing.T) {
	type outcome struct {
		after time.Duration // the outcome before
		size  int
	}
	many := func(n int, o outcome) []outcome { return slices.Repeat([]outcome{o}, n) }
	bounds := Bounds{Outcomes: 4, Bytes: 100, Delay: 10 * time.Millisecond}
	for _, tt := range []struct {
		name     string
		outcomes []outcome
		want     []int           // lengths of groups
		at       []time.Duration // when each group comes; nil for at once
	}{
		{"none", nil, nil, nil},
		{"the channel ends", many(3, outcome{}), []int{3}, nil},
		{"number", many(9, outcome{}), []int{4, 4, 1}, nil},
		{"bytes", many(4, outcome{size: 50}), []int{2, 2}, nil},
		{"the outcome that reaches the bound is in the group", many(4, outcome{size: 60}), []int{2, 2}, nil},
		{"one that is over the bound alone", []outcome{{size: 1000}, {}, {}}, []int{1, 2}, nil},
		{
			"time, from the first outcome of the group", many(4, outcome{after: 6 * time.Millisecond}),
			[]int{2, 2}, []time.Duration{16 * time.Millisecond, 24 * time.Millisecond},
		},
		{
			"the time of a full group does not end the next", append(many(4, outcome{}), outcome{after: 9 * time.Millisecond}, outcome{after: 9 * time.Millisecond}),
			[]int{4, 2}, []time.Duration{0, 18 * time.Millisecond},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outcomes := make(chan *item, len(tt.outcomes))
				go func() {
					for i, o := range tt.outcomes {
						time.Sleep(o.after)
						x := named(fmt.Sprint(i))
						x.size = o.size
						outcomes <- x
					}
					close(outcomes)
				}()
				synctest.Wait()
				began := time.Now()
				var got []int
				var order []string
				for group := range Groups(outcomes, bounds) {
					if n := len(got); tt.at != nil && n < len(tt.at) && time.Since(began) != tt.at[n] {
						t.Errorf("group %d comes after %v, want %v", n, time.Since(began), tt.at[n])
					}
					got = append(got, len(group))
					order = append(order, names(group)...)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("groups of %v, want %v", got, tt.want)
				}
				for i, name := range order {
					if name != fmt.Sprint(i) {
						t.Fatalf("in the order %v", order)
					}
				}
			})
		})
	}
}

// A caller whose commit has failed ends without reading on.
func TestGroupsUntilAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outcomes := make(chan *item, 3)
		for range 3 {
			outcomes <- named("a")
		}
		for range Groups(outcomes, Bounds{Outcomes: 1, Bytes: 1, Delay: time.Hour}) {
			break
		}
		if len(outcomes) != 2 {
			t.Errorf("%d outcomes are left, want 2", len(outcomes))
		}
	})
}
