package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// number is the place of one of the numbered inputs.
func number(input string) (n int) {
	_, _ = fmt.Sscanf(input, "title %d", &n)
	return n
}

// rejecting is a run against a service that answers after 20 ms, and rejects some inputs with status 404.
func rejecting(inputs int, refused func(number int) bool) *testRun {
	x := newTestRun(numbered(inputs)...)
	x.limits.InFlight, x.limits.CanAsk = 16, true
	x.service.answer = func(ctx context.Context, input string, _ int) error {
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if refused(number(input)) {
			return &client.Error{Class: client.Rejected, Status: 404, Detail: "not here"}
		}
		return nil
	}
	return x
}

// stored counts the outcomes of the numbered inputs in a store.
func (x *testRun) stored(t *testing.T, inputs int) (answered, rejected int) {
	t.Helper()
	for _, input := range numbered(inputs) {
		outcome, found, err := x.store.Lookup(client.Request{Kind: x.options.Kind, Classification: client.ProductTaxonomy, Input: input})
		switch {
		case err != nil:
			t.Fatal(err)
		case found && outcome.Rejection != nil:
			rejected++
		case found:
			answered++
		}
	}
	return answered, rejected
}

// A rejection is stored only if the service answers other inputs.
func TestRejections(t *testing.T) {
	const lost = 1250 * time.Millisecond // after 1,000 requests
	between := func(from, to int) func(int) bool {
		return func(n int) bool { return n > from && n <= to }
	}
	for _, tt := range []struct {
		name      string
		inputs    int
		refused   func(number int) bool
		down      time.Duration // that the service refuses everything, after 1,000 requests
		keepGoing bool
		reached   bool // the service tells its quota

		wrong    bool  // the run ends with a MisconfiguredError
		out      bool  // the run ends after an outage that is too long
		rejected int   // rows
		stored   int   // rejections
		rechecks int64 // at most
		warnings int
	}{
		{name: "every input of many", inputs: 2000, refused: between(0, 2000), wrong: true},
		{name: "every input of many, and the run keeps going", inputs: 200, refused: between(0, 200), keepGoing: true, rejected: 200, stored: 200, warnings: 4},
		{name: "every input of a few", inputs: 19, refused: between(0, 19), reached: true, rejected: 19},
		{name: "every input of a few, and no quota is told", inputs: 4, refused: between(0, 4), wrong: true},
		{name: "every input of a few, and the run keeps going", inputs: 4, refused: between(0, 4), keepGoing: true, rejected: 4, stored: 4},
		{name: "one of two", inputs: 2, refused: between(0, 1), rejected: 1, stored: 1},
		{name: "every third", inputs: 300, refused: func(n int) bool { return n%3 == 0 }, rejected: 100, stored: 100},
		{name: "the last few", inputs: 300, refused: between(290, 300), rejected: 10, stored: 10},
		{name: "the last fifty", inputs: 300, refused: between(250, 300), rejected: 50, stored: 50, rechecks: 2, warnings: 2},
		{name: "a thousand in a row", inputs: 3000, refused: between(1000, 2000), rejected: 1000, stored: 1000, rechecks: 6, warnings: 6},
		{name: "misrouted for ten minutes", inputs: 3000, refused: between(0, 0), down: 10 * time.Minute, rechecks: 100, warnings: 1},
		{name: "misrouted for good", inputs: 3000, refused: between(0, 0), down: 10 * time.Hour, out: true, rechecks: 150, warnings: 1},
		{name: "misrouted near the end", inputs: 1030, refused: between(0, 0), down: 10 * time.Minute, rechecks: 100, warnings: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := rejecting(tt.inputs, tt.refused)
				answer, start := x.service.answer, time.Now()
				x.service.answer = func(ctx context.Context, input string, attempt int) error {
					if late := time.Since(start) - lost; late >= 0 && late < tt.down {
						return &client.Error{Class: client.Rejected, Status: 404}
					}
					return answer(ctx, input, attempt)
				}
				x.store = openStore(t, t.TempDir())
				defer x.store.Close()
				x.options.KeepGoing, x.reached = tt.keepGoing, tt.reached
				x.limits.MaxOutage = time.Hour
				log := new(bytes.Buffer)
				x.log = slog.New(slog.NewTextHandler(log, nil))
				err := x.run(t.Context())
				wrong, _ := errors.AsType[*MisconfiguredError](err)
				stop, _ := errors.AsType[*StopError](err)
				if (wrong != nil) != tt.wrong || (stop != nil && stop.Cause == account.OutageTooLong) != tt.out || err != nil && !tt.wrong && !tt.out {
					t.Fatalf("ended with %v", err)
				}
				if asked := x.service.asked(); tt.wrong && (asked > 50 || wrong.Inputs < min(tt.inputs, firstSeries)) {
					t.Errorf("%d requests, then: %v", asked, err)
				}
				rows := strings.Count(strings.Join(x.sink.lines, "\n"), " rejected ")
				if err == nil && (rows != tt.rejected || len(x.sink.lines) != tt.inputs) {
					t.Errorf("%d rows, %d rejected, want %d", len(x.sink.lines), rows, tt.rejected)
				}
				if _, rejected := x.stored(t, tt.inputs); rejected != tt.stored {
					t.Errorf("%d rejections are stored, want %d", rejected, tt.stored)
				}
				if n := x.counters.Rechecks.Load(); n > tt.rechecks || (n == 0) != (tt.rechecks == 0) {
					t.Errorf("%d requests repeated, at most %d", n, tt.rechecks)
				}
				if n := strings.Count(log.String(), "level=WARN"); n != tt.warnings {
					t.Errorf("%d warnings, want %d:\n%s", n, tt.warnings, log)
				}
			})
		})
	}
}

// An odd response is a failed attempt, unless the run gets no other responses.
func TestOddResponses(t *testing.T) {
	odd := &client.Error{Class: client.Fatal, Status: 302}
	for _, tt := range []struct {
		name  string
		odd   func(number, attempt int) bool
		ended bool
		want  string // of record 50
	}{
		{"one", func(n, attempt int) bool { return n == 50 && attempt == 1 }, false, "50 ok About > title 50"},
		{"the first", func(n, attempt int) bool { return n == 1 && attempt == 1 }, false, "50 ok About > title 50"},
		{"one input always", func(n, _ int) bool { return n == 50 }, false, "50 failed  gave up after 3 attempts: HTTP 302 Found"},
		{"all", func(int, int) bool { return true }, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(100)...)
				x.service.answer = func(ctx context.Context, input string, attempt int) error {
					if err := wait(ctx, 20*time.Millisecond); err != nil {
						return err
					}
					if tt.odd(number(input), attempt) {
						return odd
					}
					return nil
				}
				err := x.run(t.Context())
				if service, _ := errors.AsType[*ServiceError](err); (service != nil) != tt.ended || (err != nil) != tt.ended {
					t.Fatalf("ended with %v", err)
				}
				if !tt.ended && x.sink.lines[49] != tt.want {
					t.Errorf("got %q", x.sink.lines[49])
				}
				if n := x.service.asked(); tt.ended && n > 10 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// A proxy rejects everything for a while, in which few requests are sent: none of them is rejected for good.
func TestAstrayInSilence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rate   float64
		inputs int
		from   time.Duration
	}{
		{"at a low rate", 1, 60, 10 * time.Second},
		{"at a lower rate", 0.2, 30, 30 * time.Second},
		{"at the end of the list", 50, 250, 4900 * time.Millisecond},
		{"the last request", 50, 250, 4970 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(tt.inputs)...)
				x.limits.InFlight, x.limits.Rate = 16, tt.rate
				x.options.Retry = client.DefaultRetryPolicy()
				start := time.Now()
				x.service.answer = func(ctx context.Context, input string, attempt int) error {
					if err := wait(ctx, 20*time.Millisecond); err != nil {
						return err
					}
					if passed := time.Since(start); passed > tt.from && passed < tt.from+40*time.Second {
						return &client.Error{Class: client.Rejected, Status: 404, Page: true}
					}
					return nil
				}
				x.store = openStore(t, t.TempDir())
				defer x.store.Close()
				if err := x.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if answered, rejected := x.stored(t, tt.inputs); answered != tt.inputs {
					t.Errorf("%d answered, %d rejected", answered, rejected)
				}
				if n := x.counters.Rechecks.Load(); n == 0 || n > 50 {
					t.Errorf("%d requests repeated", n)
				}
				if took, most := time.Since(start), tt.from+80*time.Second; tt.rate > 1 && took > most {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// A service that rejects inputs with pages is asked in runs that each end before a rejected request is repeated at the usual pace: each
// run gets further. Few requests are wasted.
func TestAstrayWithABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inputs, budget = 400, 100
		x := newTestRun()
		x.store = openStore(t, t.TempDir())
		defer x.store.Close()
		runs := 0
		for asked := 0; asked < inputs; runs++ {
			run := newTestRun(numbered(inputs)...)
			run.store, run.limits.InFlight, run.limits.Rate, run.limits.MaxRequests = x.store, 16, 50, budget
			run.options.Retry = client.DefaultRetryPolicy()
			run.service.answer = func(ctx context.Context, input string, _ int) error {
				if err := wait(ctx, 20*time.Millisecond); err != nil {
					return err
				}
				if number(input)%10 > 3 {
					return &client.Error{Class: client.Rejected, Status: 404, Page: true}
				}
				return nil
			}
			if err := run.run(t.Context()); err != nil {
				if stop, _ := errors.AsType[*StopError](err); stop == nil || stop.Cause != account.Budget {
					t.Fatal(err)
				}
			}
			answered, rejected := x.stored(t, inputs)
			if asked = answered + rejected; runs > 10 {
				t.Fatalf("%d answered and %d rejected after %d runs", answered, rejected, runs)
			}
		}
	})
}

// A rejection that another server may have sent is repeated later, until such rejections are known to be about the inputs.
func TestAstray(t *testing.T) {
	page := &client.Error{Class: client.Rejected, Status: 404, Page: true, Detail: "Not Found"}
	route := &client.Error{Class: client.Rejected, Status: 404, Detail: "no Route matched with those values"}
	var backend atomic.Int64
	deploy := func(backends int64, from time.Duration) func(int, int, time.Duration) bool { // of one of several, which answer in turn, but for chance
		return func(_, _ int, passed time.Duration) bool {
			turn := backend.Add(1)
			return passed > from && passed < from+10*time.Second && (turn*turn+turn/7)%backends == 0
		}
	}
	for _, tt := range []struct {
		name      string
		rejection *client.Error
		rejects   func(number, attempt int, passed time.Duration) bool
		rejected  int   // records
		repeats   int64 // at most
		longest   time.Duration
	}{
		{"one of three backends is replaced, for ten seconds", page, deploy(3, time.Second), 0, 400, 40 * time.Second},
		{"the same, from the first request on", page, deploy(3, 0), 0, 400, 40 * time.Second},
		{"the same, and a router says so", route, deploy(3, time.Second), 0, 400, 40 * time.Second},
		{"one of two", route, deploy(2, time.Second), 0, 600, 60 * time.Second},
		{"all backends are replaced, for two minutes", page, func(n, _ int, passed time.Duration) bool {
			return passed > time.Second && passed < 121*time.Second
		}, 0, 100, 160 * time.Second},
		{"inputs are rejected with pages", page, func(n, _ int, _ time.Duration) bool { return n%5 == 0 }, 200, 160, 40 * time.Second},
		{"one input is rejected with a page", page, func(n, _ int, _ time.Duration) bool { return n == 500 }, 1, 2, 40 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const inputs = 1000
				x := newTestRun(numbered(inputs)...)
				x.limits.InFlight, x.limits.Rate = 16, 50
				x.options.Retry = client.DefaultRetryPolicy()
				start := time.Now()
				x.service.answer = func(ctx context.Context, input string, attempt int) error {
					if err := wait(ctx, 20*time.Millisecond); err != nil {
						return err
					}
					if tt.rejects(number(input), attempt, time.Since(start)) {
						return tt.rejection
					}
					return nil
				}
				x.store = openStore(t, t.TempDir())
				defer x.store.Close()
				if err := x.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if answered, rejected := x.stored(t, inputs); answered != inputs-tt.rejected || rejected != tt.rejected {
					t.Errorf("%d answered, %d rejected, want %d", answered, rejected, tt.rejected)
				}
				if n := x.counters.Retries.Load(); n > tt.repeats || n == 0 {
					t.Errorf("%d repeated, at most %d", n, tt.repeats)
				}
				if took := time.Since(start); took > tt.longest {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}
