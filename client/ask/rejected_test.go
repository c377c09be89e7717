package ask

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Steps of the form "hold a1": the request a, sent at second 1.
func TestRejected(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps string
		want  string // what the steps took, in order
		held  string
	}{
		{"no answer", "hold a1, hold b2", "", "a1 b2"},
		{"an answer to a later request", "hold a1, hold b2, confirm 3", "a1 b2", ""},
		{"an answer to an earlier request", "hold a2, hold b3, confirm 1", "", "a2 b3"},
		{"an answer in between", "hold a1, hold b3, confirm 2", "a1", "b3"},
		{"an answer to a request of the same time", "hold a1, confirm 1", "", "a1"},
		{"held in another order than sent", "hold b3, hold a1, confirm 2", "a1", "b3"},
		{"a confirmed request is taken once", "hold a1, confirm 2, confirm 3, all", "a1", ""},
		{"an equal request was answered", "hold a1, hold b2, forget a, confirm 3", "b2", ""},
		{"an equal request was rejected again", "hold a1, hold b2, forget a, hold a4, confirm 3", "b2", "a4"},
		{"an equal request that is not held", "forget a, hold a1, forget b, confirm 2", "a1", ""},
		{"all", "hold a1, hold b9, all", "a1 b9", ""},
		{"the oldest are given up", "hold a1, hold b2, hold c3, giveup 2", "", "b2 c3"},
		{"none is given up", "hold a1, hold b2, giveup 2", "", "a1 b2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h Rejected[*item]
			var took []string
			take := func(items []*item) {
				for _, x := range items {
					took = append(took, label(x))
				}
			}
			for step := range strings.SplitSeq(tt.steps, ", ") {
				verb, of, _ := strings.Cut(step, " ")
				switch verb {
				case "hold":
					x := named(of[:1])
					x.Begin(start.Add(time.Duration(of[1]-'0') * time.Second))
					h.Hold(x)
				case "confirm":
					take(h.Confirm(start.Add(time.Duration(of[0]-'0') * time.Second)))
				case "forget":
					h.Forget(named(of).Request)
				case "all":
					take(h.TakeAll())
				case "giveup":
					h.GiveUp(int(of[0] - '0'))
				default:
					t.Fatalf("step %q", step)
				}
			}
			if got := strings.Join(took, " "); got != tt.want {
				t.Errorf("took %q, want %q", got, tt.want)
			}
			n, left := h.Len(), h.TakeAll()
			took = nil
			take(left)
			if got := strings.Join(took, " "); got != tt.held || n != len(strings.Fields(tt.held)) {
				t.Errorf("holds %q (%d), want %q", got, n, tt.held)
			}
		})
	}
}

func label(x *item) string {
	return x.Request.Input + string(rune('0'+int(x.Sent.Sub(start).Seconds())))
}

// The lists that were taken do not change afterwards.
func TestRejectedOwnsItsList(t *testing.T) {
	var h Rejected[*item]
	for i, name := range []string{"a", "b", "c"} {
		x := named(name)
		x.Begin(start.Add(time.Duration(i) * time.Second))
		h.Hold(x)
	}
	first := h.Confirm(start.Add(time.Second))
	h.Forget(named("b").Request)
	h.Hold(named("d"))
	h.GiveUp(1)
	if got := names(first); !slices.Equal(got, []string{"a"}) {
		t.Errorf("took %v, want [a]", got)
	}
}
