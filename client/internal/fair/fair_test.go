package fair

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

type owner struct {
	name     string
	priority int
}

func (o *owner) Priority() int { return o.priority }

func TestQueue(t *testing.T) {
	a, b, twice := &owner{"a", 1}, &owner{"b", 1}, &owner{"t", 2}
	tests := []struct {
		name string
		do   func(q *Queue[string])
		want string
	}{
		{"in order of arrival", func(q *Queue[string]) { q.Push(a, "1"); q.Push(a, "2") }, "1 2"},
		{"accounts take turns", func(q *Queue[string]) {
			for _, item := range []string{"a1", "a2", "a3"} {
				q.Push(a, item)
			}
			q.Push(b, "b1")
			q.Push(b, "b2")
		}, "a1 b1 a2 b2 a3"},
		{"twice the priority, twice the share", func(q *Queue[string]) {
			for _, item := range []string{"1", "2", "3", "4"} {
				q.Push(a, "a"+item)
				q.Push(twice, "t"+item)
			}
		}, "a1 t1 t2 a2 t3 t4 a3 a4"},
		{"idleness saves up nothing", func(q *Queue[string]) {
			for range 10 {
				q.Push(a, "x")
				q.Pop()
			}
			q.Push(a, "a1")
			q.Push(a, "a2")
			q.Push(b, "b1")
			q.Push(b, "b2")
			q.Push(b, "b3")
		}, "b1 a1 b2 a2 b3"},
		{"what is counted beside the queue", func(q *Queue[string]) {
			q.Push(a, "a1")
			q.Push(b, "b1")
			q.Push(b, "b2")
			q.Count(a)
			q.Count(a)
		}, "b1 b2 a1"},
		{"what is removed counts for nothing", func(q *Queue[string]) {
			q.Push(a, "a1")
			q.Push(a, "a2")
			q.Push(a, "a3")
			q.Push(b, "b1")
			q.Remove(a, "a2")
			q.Remove(a, "a1")
			q.Remove(b, "b1")
			q.Push(b, "b2")
		}, "a3 b2"},
		{"a priority that changes meanwhile", func(q *Queue[string]) {
			c := &owner{"c", 5}
			q.Push(c, "c1")
			c.priority = 1
			q.Push(c, "c2")
			q.Pop()
			q.Pop()
			q.Push(a, "a1")
			if q.Share(a) != 1 {
				t.Errorf("a alone has a share of %v", q.Share(a))
			}
		}, "a1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var q Queue[string]
			tt.do(&q)
			var got []string
			for item, ok := q.Pop(); ok; item, ok = q.Pop() {
				got = append(got, item)
			}
			if strings.Join(got, " ") != tt.want || q.Len() != 0 {
				t.Errorf("got %s, want %s; %d are left", got, tt.want, q.Len())
			}
		})
	}
}

// An account leaves places to others, waits its turn, and is refused with too many requests.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &owner{"a", 1}, &owner{"b", 1}
		p := NewPlaces(10, true)
		var done sync.WaitGroup
		got := map[error]int{}
		var mu sync.Mutex
		for range 30 {
			done.Go(func() {
				leave, err := p.Take(WithAccount(t.Context(), a))
				mu.Lock()
				got[err]++
				mu.Unlock()
				if err == nil {
					time.Sleep(time.Second)
					leave()
				}
			})
		}
		synctest.Wait()
		if got[nil] != 8 || got[ErrFull] != 12 {
			t.Errorf("%v; want 8 places and 12 refusals", got)
		}
		leave, err := p.Take(WithAccount(t.Context(), b))
		if err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		for range 10 {
			done.Go(func() { // gives up, and takes no place with it
				if _, err := p.Take(WithAccount(ctx, a)); !errors.Is(err, ErrFull) && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		leave()
		done.Wait()
		if p.free != 10 || len(p.held) != 0 || p.queue.Len() != 0 || got[nil] != 18 {
			t.Errorf("%d places are free, %v are held, %d requests wait, %v", p.free, p.held, p.queue.Len(), got)
		}
	})
}

// The only place goes to the accounts in turn.
func TestOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlaces(1, false)
		order := make(chan string, 10)
		var done sync.WaitGroup
		for _, o := range []*owner{{"a", 1}, {"b", 1}} {
			for range 3 {
				done.Go(func() {
					leave, err := p.Take(WithAccount(t.Context(), o))
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Second)
					order <- o.name
					leave()
				})
				synctest.Wait()
			}
		}
		done.Wait()
		close(order)
		got := ""
		for name := range order {
			got += name
		}
		if got != "aababb" && got != "abaabb" && got != "aabbab" {
			t.Errorf("the order is %s", got)
		}
	})
}
