package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fails is an Attempter that gives a number of answers, and then fails.
type fails struct {
	answers atomic.Int64 // answers left
	err     *Error
}

func (f *fails) Attempt(context.Context, Request) (Answer, error) {
	if f.answers.Add(-1) >= 0 {
		return Answer{}, nil
	}
	return Answer{}, f.err
}

// newDiagnoser returns a diagnoser for a service that is unknown.
func newDiagnoser(next Attempter, usage func(context.Context) (Usage, error)) *diagnoser {
	standing, next, usage := Observe(next, usage)
	return &diagnoser{next: next.Attempt, usage: usage, standing: standing}
}

func TestDiagnoser(t *testing.T) {
	broken := &Error{Class: Transient, Status: 500}
	refused := &Error{Class: Auth, Status: 401}
	banned := &Error{Class: Auth, Status: 403}
	left := func(text string) func(context.Context) (Usage, error) {
		return func(context.Context) (Usage, error) { return Usage{Remaining: text}, nil }
	}
	failing := func(err error) func(context.Context) (Usage, error) {
		return func(context.Context) (Usage, error) { return Usage{}, err }
	}
	for _, tt := range []struct {
		name     string
		status   int
		detail   string
		answered int64
		usage    func(context.Context) (Usage, error)
		want     Class
	}{
		{"401, nothing left", 401, "", 0, left("0"), Quota},
		{"403, nothing left", 403, "", 5, left("0"), Quota},
		{"429, nothing left", 429, "", 5, left("0"), Quota},
		{"503, nothing left", 503, "", 5, left("0"), Quota},
		{"401, something left", 401, "", 0, left("7"), Auth},
		{"403, something left, service has answered", 403, "", 1, left("7"), Transient},
		{"429, something left", 429, "", 5, left("7000"), Transient},
		{"503, something left", 503, "", 5, left("7000"), Transient},
		{"429 called a quota, something left", 429, "quota of 300 per minute exceeded", 5, left("7000"), Transient},
		{"429 called a quota, unlimited", 429, "quota exceeded", 5, left("unlimited"), Quota},
		{"403, unlimited", 403, "forbidden", 0, left("unlimited"), Transient},
		{"403, something left, no answer so far", 403, "", 0, left("7"), Transient},
		{"503, unlimited", 503, "maintenance", 0, left("unlimited"), Transient},
		{"403 called a quota, usage fails", 403, "monthly limit reached", 5, failing(broken), Quota},
		{"401, usage fails", 401, "", 0, failing(broken), Auth},
		{"401, usage fails, service has answered", 401, "", 5, failing(broken), Transient},
		{"401, usage refuses the key, too", 401, "", 0, failing(refused), Auth},
		{"401, usage refuses the key, too, service has answered", 401, "", 5, failing(refused), Transient},
		{"403, usage answers 403, too", 403, "", 0, failing(banned), Auth},
		{"403, usage answers 403, too, service has answered", 403, "", 5, failing(banned), Transient},
		{"403, no usage operation, service has answered", 403, "", 5, failing(&Error{Class: Rejected, Status: 404}), Transient},
		{"403, usage refuses the key, service has answered", 403, "", 5, failing(refused), Transient},
		{"429, usage fails", 429, "slow down", 5, failing(broken), Transient},
		{"503, usage fails", 503, "", 0, failing(broken), Transient},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next := &fails{err: &Error{Class: classOf(tt.status), Status: tt.status, Detail: tt.detail}}
			next.answers.Store(tt.answered)
			d := newDiagnoser(next, tt.usage)
			for range tt.answered {
				if _, err := d.attempt(t.Context(), testRequest); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := d.attempt(t.Context(), testRequest); ClassOf(err) != tt.want {
				t.Errorf("got %v, want %v", ClassOf(err), tt.want)
			}
		})
	}
}

// A key that was valid in this run has been revoked if the service has refused it for a while, and no request was answered
// meanwhile.
func TestRevokedKey(t *testing.T) {
	refused := &Error{Class: Auth, Status: 401}
	for _, tt := range []struct {
		name  string
		usage *Error
		most  time.Duration
	}{
		{"usage refuses the key, too", refused, mostDenied},
		{"usage is forbidden", &Error{Class: Auth, Status: 403}, mostUnexplained},
		{"there is no usage operation", &Error{Class: Rejected, Status: 404}, mostUnexplained},
		{"usage fails", &Error{Class: Transient, Status: 500}, mostUnexplained},
	} {
		synctest.Test(t, func(t *testing.T) {
			revoked, out := false, false
			d := newDiagnoser(attempterFunc(func() error {
				switch {
				case out:
					return &Error{Class: Transient, Status: 502}
				case revoked:
					return refused
				}
				return nil
			}), usageFails(tt.usage))
			ask := func(want Class) {
				t.Helper()
				if _, err := d.attempt(t.Context(), testRequest); err != nil && ClassOf(err) != want {
					t.Errorf("%s: got %v, want %v", tt.name, err, want)
				}
			}
			for range 3 { // the refusals of a backend end with each answer
				revoked = false
				ask(0)
				time.Sleep(tt.most / 2)
				revoked = true
				ask(Transient)
				time.Sleep(tt.most / 2)
				ask(Transient)
			}
			out = true // between two refusals, which may be those of a backend
			ask(Transient)
			time.Sleep(2 * tt.most)
			out = false
			ask(Transient)
			time.Sleep(2 * tt.most)
			ask(Auth)
		})
	}
}

// An interruption of the usage request says nothing about the key.
func TestDiagnoserInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	next := &fails{err: &Error{Class: Auth, Status: 403}}
	d := newDiagnoser(next, func(ctx context.Context) (Usage, error) {
		cancel()
		return Usage{}, ctx.Err()
	})
	var e *Error
	if _, err := d.attempt(ctx, testRequest); !errors.Is(err, context.Canceled) || errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

func TestDiagnoserKeepsClearErrors(t *testing.T) {
	for _, want := range []error{&Error{Class: Rejected, Status: 404}, &Error{Class: Transient, Status: 500}, context.Canceled} {
		d := newDiagnoser(attempterFunc(func() error { return want }), func(context.Context) (Usage, error) {
			t.Error("usage was asked")
			return Usage{}, nil
		})
		if _, err := d.attempt(t.Context(), testRequest); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

type attempterFunc func() error

func (f attempterFunc) Attempt(context.Context, Request) (Answer, error) { return Answer{}, f() }

func TestDiagnoserAsksOnceForABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d := newDiagnoser(attempterFunc(func() error {
			time.Sleep(time.Second) // all attempts are sent before the first diagnosis
			return &Error{Class: Transient, Status: http.StatusTooManyRequests}
		}), func(context.Context) (Usage, error) { asked++; return Usage{Remaining: "0"}, nil })
		var attempts sync.WaitGroup
		for range 64 {
			attempts.Go(func() {
				if _, err := d.attempt(t.Context(), testRequest); ClassOf(err) != Quota {
					t.Errorf("got %v", err)
				}
			})
		}
		attempts.Wait()
		if asked != 1 {
			t.Errorf("usage was asked %d times", asked)
		}
	})
}

// A usage operation that hangs does not hide refusals from the limits, unless they blame the quota or the key.
func TestUsageThatHangs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		detail string
		proven bool
		waits  bool
	}{
		{"429", 429, "", false, false},
		{"503", 503, "", false, false},
		{"403, service has answered", 403, "", true, false},
		{"401, service has answered", 401, "", true, false},
		{"403, no answer so far", 403, "", false, true},
		{"429 called a quota", 429, "quota exceeded", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const hangs = 30 * time.Second
				d := newDiagnoser(&fails{err: &Error{Class: classOf(tt.status), Status: tt.status, Detail: tt.detail}}, func(context.Context) (Usage, error) {
					time.Sleep(hangs)
					return Usage{}, &Error{Class: Transient}
				})
				if tt.proven {
					d.standing.Recall(testRequest, Answer{})
				}
				var attempts sync.WaitGroup
				attempts.Go(func() { d.attempt(t.Context(), testRequest) }) // asks
				synctest.Wait()
				for range 5 {
					attempts.Go(func() {
						begin := time.Now()
						_, err := d.attempt(t.Context(), testRequest)
						if waited := time.Since(begin) >= hangs; waited != tt.waits || !waited && ClassOf(err) != Transient {
							t.Errorf("%v after %v", err, time.Since(begin))
						}
					})
				}
				attempts.Wait()
			})
		})
	}
}

func TestDiagnoserReusesUsage(t *testing.T) {
	asked := 0
	next := &fails{err: &Error{Class: Transient, Status: http.StatusTooManyRequests}}
	d := newDiagnoser(next, func(context.Context) (Usage, error) { asked++; return Usage{Remaining: "3"}, nil })
	for range 5 { // the first refusal asks usage, the others reuse the reply
		d.attempt(t.Context(), testRequest)
	}
	if asked != 1 {
		t.Errorf("usage was asked %d times for refusals while 3 are left", asked)
	}
	next.answers.Store(3)
	for range 4 { // after three answers the quota may be used up
		d.attempt(t.Context(), testRequest)
	}
	if asked != 2 {
		t.Errorf("usage was asked %d times after 3 more answers", asked)
	}
}

// An attempt whose context ends does not wait for the usage request of another attempt, and a usage request that was cut
// off says nothing to the others.
func TestNoAttemptWaitsForTheUsageOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		d := newDiagnoser(&fails{err: &Error{Class: Auth, Status: 401}}, func(ctx context.Context) (Usage, error) {
			if asked.Add(1) == 1 {
				<-ctx.Done()
				return Usage{}, ctx.Err()
			}
			return Usage{Remaining: "0"}, nil
		})
		first, endFirst := context.WithCancel(t.Context())
		second, endSecond := context.WithCancel(t.Context())
		errs := make([]error, 3)
		var attempts sync.WaitGroup
		for i, ctx := range []context.Context{first, second, t.Context()} {
			attempts.Go(func() { _, errs[i] = d.attempt(ctx, testRequest) })
			synctest.Wait()
		}
		endSecond()
		synctest.Wait()
		if !errors.Is(errs[1], context.Canceled) {
			t.Errorf("the attempt has not ended with its context: %v", errs[1])
		}
		endFirst()
		attempts.Wait()
		if !errors.Is(errs[0], context.Canceled) || ClassOf(errs[2]) != Quota || asked.Load() != 2 {
			t.Errorf("got %v after %d usage requests", errs, asked.Load())
		}
	})
}
