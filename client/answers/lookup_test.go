package answers_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
	. "github.com/bulkcat/bulkcat/client/answers"
)

// TestLookupsInAnyOrder looks answers up as a run does that comes again: in the order in which
// they were stored, in other orders, with new inputs in between, in batches of any size.
func TestLookupsInAnyOrder(t *testing.T) {
	t.Parallel()
	const n = 4_000
	disk := vfs.NewMem()
	s := start(t, disk)
	for i := 0; i < n; i += 500 {
		s.put(i, i+500, 0)
	}
	s.put(n/2, n/2+1000, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	shuffled := rng.Perm(n)
	for name, input := range map[string]func(i int) int{
		"as stored":           func(i int) int { return i },
		"backwards":           func(i int) int { return n - 1 - i },
		"shuffled":            func(i int) int { return shuffled[i] },
		"half come again":     func(i int) int { return []int{i / 2, rng.IntN(i/2 + 1)}[i%2] },
		"with new in between": func(i int) int { return i * 2 },
		"neighbours swapped":  func(i int) int { return i ^ 37 },
	} {
		for _, size := range []int{7, 256} {
			s.reopen(func(*Options) {})
			for i := 0; i < n; i += size {
				var queries []Query
				for j := i; j < min(i+size, n); j++ {
					r, _ := numbered(input(j))
					queries = append(queries, Query{Request: r})
				}
				s.must(s.LookupAll(queries))
				for j, q := range queries {
					k := input(i + j)
					if name == "half come again" {
						continue // the input is drawn anew; found is enough
					}
					v := 0
					if k >= n/2 && k < n/2+1000 {
						v = 1
					}
					_, o := version(k, v)
					if q.Found != (k < n) || q.Found && q.Outcome.Answer.Entries[0] != o.Answer.Entries[0] {
						t.Fatalf("%s, %d at once: input %d: got %+v", name, size, k, q)
					}
				}
			}
		}
	}
	s.close()
}

// TestLookupsWhileAnswersChange looks up answers while they are replaced and the log is compacted:
// at any time the version that was committed last, or a newer one, is found.
func TestLookupsWhileAnswersChange(t *testing.T) {
	t.Parallel()
	const n, versions = 1000, 8
	s := start(t, vfs.NewMem())
	s.put(0, n, 0)
	s.reopen(func(*Options) {}) // so that lookups read ahead
	var (
		wg        sync.WaitGroup
		mu        sync.Mutex
		committed int // every answer has at least this version
	)
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for i := 0; i < n; i += 100 {
					mu.Lock()
					least := committed
					mu.Unlock()
					var queries []Query
					for j := i; j < i+100; j++ {
						r, _ := numbered(j)
						queries = append(queries, Query{Request: r})
					}
					if err := s.LookupAll(queries); err != nil {
						t.Error(err)
						return
					}
					for j, q := range queries {
						if _, o := version(i+j, least); !q.Found || q.Outcome.Answer.AnsweredAt.Before(o.Answer.AnsweredAt) {
							t.Errorf("answer %d: got %+v, want version %d or newer", i+j, q, least)
							return
						}
					}
				}
			}
		})
	}
	var err error
	for v := 1; v < versions && err == nil; v++ {
		for i := 0; i < n; i += 200 {
			err = errors.Join(err, s.tryPut(i, i+200, v))
		}
		mu.Lock()
		committed = v
		mu.Unlock()
		if v%3 == 0 {
			err = errors.Join(err, s.Compact(t.Context()))
		}
	}
	close(done)
	wg.Wait()
	s.must(err)
	s.wantAll(n, versions-1)
	s.close()
}

// TestBodies looks up the bodies of an answer, of an answer that was given again, and of a rejection.
func TestBodies(t *testing.T) {
	s := start(t, vfs.NewMem())
	r, o := version(1, 0)
	body := `{"` + r.Classification + `":[{"value":"A","confidence":0.5}]}`
	o.Answer.Body = []byte(body)
	for _, confirmed := range []bool{false, true} {
		if confirmed {
			o.ConfirmedAt = o.Answer.AnsweredAt.Add(time.Hour)
		}
		b := s.NewBatch()
		b.Add(r, o)
		s.must(b.Commit())
		queries := []Query{{Request: r, Body: true}, {Request: r}}
		s.must(s.LookupAll(queries))
		if got := string(queries[0].Outcome.Answer.Body); got != body || queries[1].Outcome.Answer.Body != nil {
			t.Errorf("confirmed %v: got %s and %s", confirmed, got, queries[1].Outcome.Answer.Body)
		}
	}
	rejected := Outcome{Answer: client.Answer{AnsweredAt: o.Answer.AnsweredAt}, Rejection: &client.Error{Class: client.Rejected, Status: 404, Detail: "no such site"}}
	b := s.NewBatch()
	b.Add(r, rejected)
	s.must(b.Commit())
	queries := []Query{{Request: r, Body: true}}
	s.must(s.LookupAll(queries))
	if q := queries[0]; q.Outcome.Answer.Body != nil || q.Outcome.Rejection == nil {
		t.Errorf("got %+v", q.Outcome)
	}
	s.close()
}
