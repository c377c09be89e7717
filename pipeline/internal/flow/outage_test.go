package flow

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
)

// The failures of a service that is out.
var failures = map[string]struct {
	took time.Duration
	err  *client.Error
}{
	"refused connections":   {0, &client.Error{Class: client.Transient, Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}},
	"broken connections":    {0, &client.Error{Class: client.Transient, Err: syscall.ECONNRESET}},
	"no name":               {time.Millisecond, &client.Error{Class: client.Transient, Err: errors.New("no such host")}},
	"a hang":                {30 * time.Second, &client.Error{Class: client.Transient, Err: &client.TimeoutError{Timeout: 30 * time.Second, Next: time.Minute}}},
	"503":                   {20 * time.Millisecond, &client.Error{Class: client.Transient, Status: 503}},
	"503 that names a wait": {20 * time.Millisecond, &client.Error{Class: client.Transient, Status: 503, RetryAfter: 5 * time.Second}},
	"502":                   {20 * time.Millisecond, &client.Error{Class: client.Transient, Status: 502}},
	"429":                   {20 * time.Millisecond, &client.Error{Class: client.Transient, Status: 429}},
}

// usageOf says how the usage operation of a service behaves.
type usageOf int

const (
	noUsage usageOf = iota
	usageDies
	usageAnswers
)

// An outage ends as an outage, however short the list is.
func TestOutageOfAShortList(t *testing.T) {
	for _, inputs := range []int{1, 2, 10} {
		for name, failure := range failures {
			for _, tt := range []struct {
				name     string
				usage    usageOf
				answered int  // inputs, before the service dies
				earlier  bool // an earlier run has answers
				classes  int
				stores   bool // a gateway that has no upstream answers what it has stored
			}{
				{"at once", noUsage, 0, false, 1, false},
				{"at once, with usage", usageDies, 0, false, 1, false},
				{"but usage answers", usageAnswers, 0, false, 1, false},
				{"several classifications", noUsage, 0, false, 3, false},
				{"after an earlier run", noUsage, 0, true, 1, false},
				{"after an earlier run, with usage", usageDies, 0, true, 1, false},
				{"during the run", noUsage, inputs / 2, false, 1, false},
				{"during the run, with usage", usageDies, inputs / 2, false, 1, false},
				{"during the run, and usage answers", usageAnswers, inputs / 3, false, 1, false},
				{"of the upstream of a gateway", usageAnswers, inputs / 3, false, 1, true},
			} {
				if tt.usage == usageAnswers && tt.answered > 0 && inputs < 4 {
					continue // the inputs may be the cause
				}
				t.Run(fmt.Sprintf("%s/%s/%d inputs", name, tt.name, inputs), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						x := newTestRun(numbered(inputs)...)
						x.options.Retry = client.DefaultRetryPolicy()
						x.options.SourceName = "http://service"
						x.limits.MaxOutage = 40 * time.Second // less than a service that never answered gets
						for i := range tt.classes - 1 {
							x.options.Classifications = append(x.options.Classifications, Classification{Name: fmt.Sprintf("custom:%d", i)})
						}
						var answers atomic.Int64
						x.service.answer = func(ctx context.Context, input string, _ int) error {
							if number(input) <= tt.answered && (answers.Add(1) <= int64(tt.answered) || tt.stores) {
								return wait(ctx, 20*time.Millisecond)
							}
							if err := wait(ctx, failure.took); err != nil {
								return err
							}
							return failure.err
						}
						x.service.stores = tt.stores
						x.use(tt.usage)
						x.store = openStore(t, t.TempDir())
						defer x.store.Close()
						if tt.earlier {
							(&startedRun{testRun: x}).addAnswer()
						}
						start := time.Now()
						err := x.run(t.Context())
						if _, ok := errors.AsType[*UnreachableError](err); ok && (name == "a hang" || name == "refused connections") && tt.answered == 0 && !tt.earlier {
							return // it has never answered
						}
						stop, _ := errors.AsType[*StopError](err)
						if stop == nil || stop.Cause != account.OutageTooLong || x.sink.closed {
							t.Errorf("ended after %v with %v, and %d rows", time.Since(start), err, len(x.sink.lines))
						}
						if took := time.Since(start); took > 10*time.Minute && name != "a hang" {
							t.Errorf("took %v", took)
						}
					})
				})
			}
		}
	}
}

// Inputs that fail while the service answers others become failed rows.
func TestFailuresOfInputs(t *testing.T) {
	for _, failing := range []int{1, 2, 5} {
		for name, failure := range failures {
			if failure.err.Refused() {
				continue // counts as an attempt only after many
			}
			for _, tt := range []struct {
				name     string
				usage    usageOf
				answered int
				earlier  bool // all answers are stored by an earlier run
			}{
				{"among others", noUsage, 200, false},
				{"of a short list", noUsage, 2, false},
				{"of a short list, with usage", usageAnswers, 2, false},
				{"in a later run", noUsage, 2, true},
				{"in a later run, with usage", usageAnswers, 2, true},
			} {
				t.Run(fmt.Sprintf("%s/%s/%d inputs", name, tt.name, failing), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						x := newTestRun(numbered(tt.answered + failing)...)
						x.options.Retry = client.DefaultRetryPolicy()
						x.limits.MaxOutage, x.options.SourceName = 6*time.Hour, "http://service"
						x.store = openStore(t, t.TempDir())
						defer x.store.Close()
						x.use(tt.usage)
						x.service.answer = func(ctx context.Context, input string, _ int) error {
							if number(input) <= tt.answered {
								return wait(ctx, 20*time.Millisecond)
							}
							if err := wait(ctx, failure.took); err != nil {
								return err
							}
							return failure.err
						}
						if tt.earlier {
							if err := x.again(numbered(tt.answered)...).run(t.Context()); err != nil {
								t.Fatal(err)
							}
							x.service.attempts = nil
						}
						start := time.Now()
						if err := x.run(t.Context()); err != nil {
							t.Fatalf("after %v: %v", time.Since(start), err)
						}
						if n := strings.Count(strings.Join(x.sink.lines, "\n"), " failed "); n != failing {
							t.Errorf("%d rows have failed, want %d", n, failing)
						}
						paid := 0
						for _, input := range numbered(tt.answered) {
							paid += x.service.attempts[input]
						}
						if !tt.earlier {
							paid -= tt.answered
						}
						if paid > 2*failing && !failure.err.Unreached() { // these are tried often, and each of them seems to be an outage
							t.Errorf("%d requests were repeated, at most %d", paid, 2*failing)
						}
						if took := time.Since(start); took > time.Hour {
							t.Errorf("took %v", took)
						}
					})
				})
			}
		}
	}
}

// use gives the service a usage operation.
func (x *testRun) use(u usageOf) {
	x.limits.CanAsk = u != noUsage
	x.usage = func(context.Context) (client.Usage, error) {
		if u == usageAnswers {
			return client.Usage{Plan: "basic", Remaining: "unlimited"}, nil
		}
		return client.Usage{}, &client.Error{Class: client.Transient, Status: 503}
	}
}

// again is a run over other inputs with the parts of x.
func (x *testRun) again(inputs ...string) *testRun {
	y := *x
	y.source, y.sink, y.counters = &records{inputs: inputs}, new(rows), new(progress.Counters)
	return &y
}

// A long wait that one response names ends when the service answers others that were sent later. A wait until an answer is
// ready does not.
func TestLongWaitsOfSomeResponses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		err     client.Error
		refused func(number, attempt int) bool
		most    time.Duration
		least   time.Duration
	}{
		{"429 now and then", client.Error{Class: client.Transient, Status: 429, RetryAfter: time.Hour}, func(n, attempt int) bool { return n%10 == 3 && attempt == 1 }, 30 * time.Second, 0},
		{"429 twice", client.Error{Class: client.Transient, Status: 429, RetryAfter: time.Hour}, func(n, attempt int) bool { return n == 5 && attempt <= 2 }, 8 * time.Second, 0},
		{"503", client.Error{Class: client.Transient, Status: 503, RetryAfter: time.Hour}, func(n, attempt int) bool { return n == 5 && attempt == 1 }, 8 * time.Second, 0},
		{"the last but ten", client.Error{Class: client.Transient, Status: 429, RetryAfter: time.Hour}, func(n, attempt int) bool { return n == 290 && attempt == 1 }, 8 * time.Second, 0},
		{"202", client.Error{Class: client.Transient, Status: 202, RetryAfter: time.Minute}, func(n, attempt int) bool { return n == 5 && attempt == 1 }, 62 * time.Second, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(300)...)
				x.options.Retry = client.DefaultRetryPolicy()
				x.limits.Rate, x.limits.InFlight = 50, 64
				x.service.answer = func(ctx context.Context, input string, attempt int) error {
					if tt.refused(number(input), attempt) {
						return &tt.err
					}
					return wait(ctx, 20*time.Millisecond)
				}
				start := time.Now()
				if err := x.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took > tt.most || took < tt.least {
					t.Errorf("took %v", took)
				}
				if c := x.counters.Snapshot(); c.OK != 300 {
					t.Errorf("got %+v", c)
				}
			})
		})
	}
}

// Inputs that are refused for ever do not hold up the others for long, nor the end of the run.
func TestInputsRefusedForEver(t *testing.T) {
	for _, tt := range []struct{ inputs, each int }{{300, 60}, {3000, 100}} {
		t.Run(fmt.Sprintf("one of %d of %d", tt.each, tt.inputs), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(tt.inputs)...)
				x.options.Retry = client.DefaultRetryPolicy()
				x.limits.MaxOutage, x.options.SourceName = 6*time.Hour, "http://service"
				x.service.answer = func(ctx context.Context, input string, _ int) error {
					if number(input)%tt.each == 0 {
						return &client.Error{Class: client.Transient, Status: 429}
					}
					return wait(ctx, 50*time.Millisecond)
				}
				start := time.Now()
				err := x.run(t.Context())
				failed := strings.Count(strings.Join(x.sink.lines, "\n"), " failed ")
				if took := time.Since(start); err != nil || failed != tt.inputs/tt.each || took > 30*time.Minute {
					t.Errorf("ended after %v with %v, %d failed", took, err, failed)
				}
			})
		})
	}
}

// A gateway that has all answers is asked as fast as it answers.
func TestGatewayWithAllAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(20_000)...)
		x.options.Retry = client.DefaultRetryPolicy()
		x.limits = limits.Options{InFlight: 4096}
		x.service.stores, x.service.attempts = true, make(map[string]int)
		for _, input := range numbered(20_000) {
			x.service.attempts[input] = 1
		}
		x.service.answer = func(ctx context.Context, _ string, _ int) error { return wait(ctx, 5*time.Millisecond) }
		start := time.Now()
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// No record fails because of a service that breaks for a second under more than 30 requests, or that dies for half a second now
// and then while some inputs take long.
func TestServiceThatBreaks(t *testing.T) {
	serverError, broken := &client.Error{Class: client.Transient, Status: 500}, &client.Error{Class: client.Transient}
	for _, tt := range []struct {
		name   string
		inputs int
		rate   float64
		answer func(start time.Time) func(ctx context.Context, input string, _ int) error
	}{
		{"under a burst", 8000, 1000, func(start time.Time) func(context.Context, string, int) error {
			var working, until atomic.Int64 // until is in nanoseconds since start
			return func(ctx context.Context, _ string, _ int) error {
				now := int64(time.Since(start))
				if working.Load() > 30 && now >= until.Load() {
					until.Store(now + int64(1200*time.Millisecond))
				}
				if now < until.Load() {
					return serverError
				}
				working.Add(1)
				defer working.Add(-1)
				return wait(ctx, 250*time.Millisecond)
			}
		}},
		{"now and then", 40_000, 100, func(start time.Time) func(context.Context, string, int) error {
			return func(ctx context.Context, input string, _ int) error {
				const upFor = 19400 * time.Millisecond // of 20 s
				at, took := time.Since(start)%(20*time.Second), 20*time.Millisecond
				if strings.HasSuffix(input, "00") && time.Since(start) < 5*time.Minute {
					took = 25 * time.Second
				}
				if at+took <= upFor {
					return wait(ctx, took)
				}
				if err := wait(ctx, max(0, upFor-at)+time.Millisecond); err != nil {
					return err
				}
				return broken
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(tt.inputs)...)
				x.options.Retry = client.DefaultRetryPolicy()
				x.limits = limits.Options{Rate: tt.rate, InFlight: 1000}
				x.service.answer = tt.answer(time.Now())
				if err := x.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(strings.Join(x.sink.lines, "\n"), " failed "); n > 0 {
					t.Errorf("%d records have failed", n)
				}
			})
		})
	}
}
