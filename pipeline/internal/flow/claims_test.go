package flow

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
)

// If a rejection and the tasks of other processes are all that is left, the rejection does not wait for these: two processes
// would wait for each other. That may show only when the tasks have been looked up and wait again.
func TestRejectionsDoNotWaitForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		store, other := openStore(t, dir), openStore(t, dir)
		defer store.Close()
		defer other.Close()
		held := client.Request{Kind: client.Product, Input: "title 2"}
		if err := other.Claim([]answers.Query{{Request: held}}); err != nil {
			t.Fatal(err)
		}
		r := &run{
			Parts:      Parts{Store: store, Counters: new(progress.Counters), Limits: limits.New(limits.Options{Rate: math.Inf(1)}, time.Now())}.withDefaults(),
			options:    newTestRun().options.withDefaults(),
			work:       make(chan *task),
			sends:      make(chan send),
			joins:      joins{asked: make(map[client.Request]*task)},
			claims:     newClaims(),
			completion: completion{wake: make(chan struct{}, 1)},
			standing:   new(client.Standing),
		}
		r.dispatcher = ask.NewDispatcher(r, r.Limits)
		r.asked, r.allAsked = context.WithCancel(t.Context())
		defer r.allAsked()
		go r.ask()
		synctest.Wait()
		r.open.Store(2)
		r.rejections.unconfirmed.Hold(&task{err: &client.Error{Class: client.Rejected, Status: 404, Detail: "the product is unknown"}})
		r.claims.hold(&task{held: true, Attempts: ask.Attempts{Request: held}})
		r.claims.tried = time.Now()
		if _, err := r.lookUpHeld(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := r.rejections.unconfirmed.Len(); n != 0 || r.open.Load() != 1 {
			t.Errorf("%d rejections wait, %d tasks are open", n, r.open.Load())
		}
	})
}

// A rejection that was held while the run was suspended for long gives way to the answer of a process that asked meanwhile.
func TestRejectionAfterLapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		store := openStore(t, dir)
		defer store.Close()
		request := client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: "title 1"}
		if err := store.Claim([]answers.Query{{Request: request}}); err != nil {
			t.Fatal(err)
		}
		takeOver(t, dir, []string{request.Input})
		time.Sleep(6 * time.Second) // the store notices that its claims have lapsed
		synctest.Wait()
		r := &run{
			Parts:      Parts{Store: store, Counters: new(progress.Counters), Limits: limits.New(limits.Options{}, time.Now())}.withDefaults(),
			options:    newTestRun().options.withDefaults(),
			joins:      joins{asked: make(map[client.Request]*task)},
			claims:     newClaims(),
			commits:    make(chan *task, 1),
			completion: completion{wake: make(chan struct{}, 1)},
			standing:   new(client.Standing),
		}
		r.dispatcher = ask.NewDispatcher(r, r.Limits)
		r.open.Store(2)
		rejected := &task{Attempts: ask.Attempts{Request: request}, claim: 1, err: &client.Error{Class: client.Rejected, Status: 404}}
		r.saveAll([]*task{rejected})
		if len(r.commits) > 0 || rejected.err != nil || len(rejected.answer.Entries) != 1 {
			t.Errorf("%d outcomes are committed; the task has %+v, %v", len(r.commits), rejected.answer, rejected.err)
		}
	})
}

// twoRuns are runs over 600 equal inputs, with one store. The service answers within 50 ms.
type twoRuns struct {
	first, second *testRun
	log           strings.Builder // of the second
	began         time.Time

	mu       sync.Mutex
	answered map[string]int
}

func newTwoRuns(t *testing.T, files string) *twoRuns {
	w := &twoRuns{first: newTestRun(numbered(600)...), second: newTestRun(numbered(600)...), began: time.Now(), answered: make(map[string]int)}
	w.second.log = slog.New(slog.NewTextHandler(&w.log, nil))
	for _, x := range []*testRun{w.first, w.second} {
		x.store, x.service.answer = openStore(t, files), w.answer
		x.limits.CanAsk = true
		x.usage = func(context.Context) (client.Usage, error) { return client.Usage{Remaining: "unlimited"}, nil }
		t.Cleanup(func() { x.store.Close() })
	}
	return w
}

func (w *twoRuns) answer(ctx context.Context, input string, _ int) error {
	if err := wait(ctx, 50*time.Millisecond); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered[input]++
	return nil
}

// fail has the first run fail for an hour, after so many answers.
func (w *twoRuns) fail(answers int, err *client.Error) {
	w.first.service.answer = func(ctx context.Context, input string, attempt int) error {
		if time.Since(w.began) < time.Hour && w.first.service.asked() > answers {
			return err
		}
		return w.answer(ctx, input, attempt)
	}
	w.first.usage = func(context.Context) (client.Usage, error) {
		switch {
		case time.Since(w.began) >= time.Hour:
			return client.Usage{Remaining: "1000"}, nil
		case err.Class == client.Quota:
			return client.Usage{Remaining: "0"}, nil
		}
		return client.Usage{}, err
	}
}

// A run does not wait for another run that pauses, and each request is answered once.
func TestClaimsOfAnotherRun(t *testing.T) {
	for _, tt := range []struct {
		name   string
		first  func(*twoRuns)
		within time.Duration // the second run is done
		told   bool          // the second run says that it waits
	}{
		{"slow", func(w *twoRuns) { w.first.limits.Rate = 1 }, 10 * time.Second, false},
		{"very slow", func(w *twoRuns) { w.first.limits.Rate = 1.0 / 60 }, 10 * time.Second, false},
		{"slow after a fast start", func(w *twoRuns) {
			w.first.limits.InFlight = 64
			w.first.service.answer = func(ctx context.Context, input string, attempt int) error {
				if w.first.service.asked() > 300 {
					if err := wait(ctx, time.Minute); err != nil {
						return err
					}
				}
				return w.answer(ctx, input, attempt)
			}
		}, 5 * time.Minute, true}, // the first run halves the number in flight for a minute or two
		{"waits for quota", func(w *twoRuns) {
			w.first.options.WaitForQuota, w.first.limits.WaitForQuota = true, true
			w.fail(20, &client.Error{Class: client.Quota, Status: 402})
		}, 10 * time.Second, false},
		{"waits in an outage", func(w *twoRuns) {
			w.fail(20, &client.Error{Class: client.Transient, Status: 502})
		}, 10 * time.Second, false},
		{"is refused for an hour", func(w *twoRuns) {
			w.fail(20, &client.Error{Class: client.Transient, Status: 429, RetryAfter: time.Hour})
		}, 10 * time.Second, false},
		{"has a rejection to confirm, and no quota", func(w *twoRuns) {
			w.first.options.WaitForQuota, w.first.limits.WaitForQuota = true, true
			w.fail(20, &client.Error{Class: client.Quota, Status: 402})
			failing := w.first.service.answer
			w.first.service.answer = func(ctx context.Context, input string, attempt int) error {
				if input == "title 20" {
					return &client.Error{Class: client.Rejected, Status: 404, Detail: "no such title"}
				}
				return failing(ctx, input, attempt)
			}
		}, 10 * time.Second, false},
		{"waits for an answer", func(w *twoRuns) {
			w.first.service.answer = func(ctx context.Context, input string, attempt int) error {
				if input == "title 7" {
					if err := wait(ctx, 20*time.Second); err != nil {
						return err
					}
				}
				return w.answer(ctx, input, attempt)
			}
		}, 25 * time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newTwoRuns(t, files)
				tt.first(w)
				end := make(chan error)
				ctx, stop := context.WithTimeout(t.Context(), 3*time.Hour)
				defer stop()
				go func() { end <- w.first.run(ctx) }()
				time.Sleep(2 * time.Second)
				began := time.Now()
				if err := w.second.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > tt.within {
					t.Errorf("the second run took %v", took)
				}
				want := fmt.Sprintf("waiting for its answers\" process=%d", os.Getpid())
				if n := strings.Count(w.log.String(), want); n > 1 || tt.told && n != 1 {
					t.Errorf("the second run says\n%s", w.log.String())
				}
				if err := <-end; err != nil {
					t.Errorf("the first run ends with %v", err)
				}
				again := -w.first.counters.Rechecks.Load() // of an outage
				for _, n := range w.answered {
					again += int64(n - 1)
				}
				if again > 0 {
					t.Errorf("%d requests were answered again", again)
				}
				if slices.Sort(w.first.sink.lines); !slices.Equal(w.first.sink.lines, slices.Sorted(slices.Values(w.second.sink.lines))) {
					t.Error("the rows differ")
				}
				if len(w.answered) != 600 || len(w.first.sink.lines) != 600 || len(w.second.sink.lines) != 600 {
					t.Errorf("%d answers, %d and %d rows", len(w.answered), len(w.first.sink.lines), len(w.second.sink.lines))
				}
			})
		})
	}
}

// The claims of a process that is gone are taken over as fast as the service answers.
func TestClaimsOfAProcessThatIsGone(t *testing.T) {
	files := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newTwoRuns(t, files)
		var claimed []answers.Query
		for _, input := range numbered(600) {
			claimed = append(claimed, answers.Query{Request: client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: input}})
		}
		if err := w.first.store.Claim(claimed[:500]); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() { w.first.store.Close() })
		began := time.Now()
		if err := w.second.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < time.Minute || took > time.Minute+10*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
