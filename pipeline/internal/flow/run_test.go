package flow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/forecast"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// records is a Source of inputs, with an error instead of the end if there is one.
type records struct {
	inputs []string
	pause  time.Duration // before each record
	err    error
	read   atomic.Int64 // so far
}

func (s *records) Read() (reader.Record, error) {
	time.Sleep(s.pause)
	read := s.read.Load()
	if read == int64(len(s.inputs)) {
		if s.err != nil {
			return reader.Record{}, s.err
		}
		return reader.Record{}, io.EOF
	}
	s.read.Store(read + 1)
	return reader.Record{
		Number: read + 1, File: "in.txt", Line: read + 1, Input: s.inputs[read],
		Fields: []string{"first", fmt.Sprintf("field %d", read+1)},
	}, nil
}

// service is an Attempter that answers as the test says and keeps an audit.
type service struct {
	answer func(ctx context.Context, input string, attempt int) error // nil: an answer

	mu       sync.Mutex
	attempts map[string]int
	inFlight int
	most     int  // in flight at once
	stores   bool // as a gateway does: what was answered before is answered again
}

func (s *service) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	attempt := s.begin(r.Input)
	defer s.end()
	if s.answer != nil {
		if err := s.answer(ctx, r.Input, attempt); err != nil {
			return client.Answer{}, err
		}
	}
	body := fmt.Sprintf(`{%q:[{"value":"About > %s","confidence":0.5}]}`, r.Classification, r.Input)
	answer, err := client.ParseAnswer([]byte(body), r.Classification)
	answer.AnsweredAt, answer.Shared = time.Now(), s.stores && attempt > 1
	return answer, err
}

func (s *service) begin(input string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attempts == nil {
		s.attempts = make(map[string]int)
	}
	s.attempts[input]++
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	return s.attempts[input]
}

func (s *service) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
}

func (s *service) asked() (total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.attempts {
		total += n
	}
	return total
}

// rows is a Sink that keeps the rows.
type rows struct {
	lines           []string
	fields          [][]string
	closed, aborted bool
	err             error
}

func (s *rows) Write(rows []writer.Row) error {
	for _, r := range rows {
		s.lines = append(s.lines, strings.TrimRight(fmt.Sprintf("%d %s %s %s", r.Record, r.Status, r.Value, r.Error), " "))
		s.fields = append(s.fields, slices.Clone(r.Fields))
	}
	return s.err
}

func (s *rows) Close() (writer.Published, error) { s.closed = true; return writer.Published{}, nil }
func (s *rows) Abort() error                     { s.aborted = true; return nil }

// testRun is a run with test doubles for its parts.
type testRun struct {
	source    *records
	service   *service
	sink      *rows
	counters  *progress.Counters
	each      Each
	attempter client.Attempter                            // nil for service
	reached   bool                                        // the service has told its quota
	tell      func(context.Context) (client.Usage, error) // has a client's service tell its quota
	usage     func(context.Context) (client.Usage, error)
	store     *answers.Store
	limits    limits.Options
	options   Options
	log       *slog.Logger
}

func newTestRun(inputs ...string) *testRun {
	retry := client.DefaultRetryPolicy()
	retry.MaxAttempts = 3
	return &testRun{
		source: &records{inputs: inputs}, service: new(service), sink: new(rows), counters: new(progress.Counters),
		options: Options{Kind: client.Product, Classifications: []Classification{{Name: client.ProductTaxonomy}}, Conduct: Conduct{Retry: retry}},
		limits:  limits.Options{Rate: math.Inf(1), InFlight: 4},
	}
}

func (x *testRun) run(ctx context.Context) error {
	var attempter client.Attempter = x.service
	if x.attempter != nil {
		attempter = x.attempter
	}
	if x.reached {
		tell := x.tell
		if tell == nil {
			_, attempter, tell = client.Observe(attempter, func(context.Context) (client.Usage, error) { return client.Usage{Remaining: "unlimited"}, nil })
		}
		if _, err := tell(ctx); err != nil {
			return err
		}
	}
	_, err := Run(ctx, Parts{
		Source: x.source, Attempter: attempter, Sink: x.sink, Counters: x.counters, Store: x.store, Limits: limits.New(x.limits, time.Now()), Each: x.each, Log: x.log, Usage: x.usage,
	}, x.options)
	return err
}

func numbered(n int) []string {
	inputs := make([]string, n)
	for i := range inputs {
		inputs[i] = fmt.Sprintf("title %d", i+1)
	}
	return inputs
}

func openStore(t *testing.T, files string) *answers.Store {
	t.Helper()
	store, err := answers.Open(answers.Options{Path: filepath.Join(files, "answers.db"), Source: "http://service"})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil // the race detector crashes in a select on a timer that has ended, in a bubble of synctest
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestRowsComeInInputOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(500)...)
		x.service.answer = func(ctx context.Context, input string, _ int) error {
			return wait(ctx, time.Duration(len(input)*31%7)*time.Millisecond+time.Duration(input[len(input)-1])*time.Millisecond)
		}
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, line := range x.sink.lines {
			if want := fmt.Sprintf("%d ok About > title %d", i+1, i+1); line != want {
				t.Fatalf("row %d is %q, want %q", i+1, line, want)
			}
		}
		if len(x.sink.lines) != 500 || !x.sink.closed || x.sink.aborted {
			t.Errorf("%d rows, closed %t, aborted %t", len(x.sink.lines), x.sink.closed, x.sink.aborted)
		}
		if x.service.most != 4 {
			t.Errorf("%d requests in flight at most, want 4", x.service.most)
		}
	})
}

// The refusals of a request that meets other answers do not use up its attempts; its failures do.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  client.Error
		want string
	}{
		{"429", client.Error{Class: client.Transient, Status: 429}, "250 ok About > title 250"},
		{"503 with a wait", client.Error{Class: client.Transient, Status: 503, RetryAfter: time.Second}, "250 ok About > title 250"},
		{"500", client.Error{Class: client.Transient, Status: 500}, "250 failed  gave up after 3 attempts: HTTP 500 Internal Server Error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(3000)...)
				x.service.answer = func(ctx context.Context, input string, attempt int) error {
					if input == "title 250" && attempt <= 10 {
						return &tt.err
					}
					return wait(ctx, time.Second)
				}
				if err := x.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := x.sink.lines[249]; got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestOneWorkerAsksInInputOrder(t *testing.T) {
	for range 50 { // batches that are looked up beside each other end in any order
		x := newTestRun(numbered(40)...)
		x.limits.InFlight = 1
		var asked []string
		x.service.answer = func(_ context.Context, input string, _ int) error {
			asked = append(asked, input)
			return nil
		}
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := numbered(40); !slices.Equal(asked, want) {
			t.Fatalf("asked %q, want %q", asked, want)
		}
	}
}

func TestCarriedColumnsStayWithTheirRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(3000)...)
		x.options.Carry, x.options.Schema.Carry = []int{1}, []string{"field"}
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, fields := range x.sink.fields {
			if want := fmt.Sprintf("field %d", i+1); len(fields) != 1 || fields[0] != want {
				t.Fatalf("row %d carries %q, want %q", i+1, fields, want)
			}
		}
	})
}

func TestEqualInputsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun("shoe", " shoe", "shoe ", "hat", "shoe", "hat")
		x.service.answer = func(ctx context.Context, _ string, _ int) error { return wait(ctx, time.Second) }
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := x.service.asked(); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
		c := x.counters.Snapshot()
		if c.Requests != 2 || c.WithOutcome != 2 || c.OK != 6 || c.Written != 6 || c.Rows != 6 {
			t.Errorf("got %+v", c)
		}
	})
}

func TestStatuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun("good", "refused", "", "broken", "good")
		x.service.answer = func(_ context.Context, input string, _ int) error {
			switch input {
			case "refused":
				return &client.Error{Class: client.Rejected, Status: 404, Detail: "no such thing"}
			case "broken":
				return &client.Error{Class: client.Transient, Status: 503}
			}
			return nil
		}
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"1 ok About > good",
			"2 rejected  HTTP 404 Not Found: no such thing",
			`3 blank  in.txt:3: the input is empty: ""`,
			"4 failed  gave up after 3 attempts: HTTP 503 Service Unavailable",
			"5 ok About > good",
		}
		if !slices.Equal(x.sink.lines, want) {
			t.Errorf("got  %q\nwant %q", x.sink.lines, want)
		}
		if n := x.counters.Snapshot().Unanswered(); n != 2 {
			t.Errorf("%d unanswered, want 2", n)
		}
	})
}

func TestStrictFailsAtTheFirstInvalidRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun("good", "", "NULL", "good")
		x.options.Strict = true
		var input *normalize.InputError
		if err := x.run(t.Context()); !errors.As(err, &input) || !strings.Contains(err.Error(), "in.txt:3") {
			t.Errorf("got %v", err)
		}
		if x.sink.closed || !x.sink.aborted {
			t.Error("the output of a failed run was published")
		}
	})
}

func TestWaitingForARetryHoldsNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(100)...)
		x.limits.InFlight = 1
		x.options.Retry.Jitter = func(time.Duration) time.Duration { return time.Hour }
		x.service.answer = func(ctx context.Context, input string, attempt int) error {
			if input == "title 1" && attempt < 3 {
				return &client.Error{Class: client.Transient}
			}
			return wait(ctx, time.Second)
		}
		start := time.Now()
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Two waits of an hour and the last attempt: the other 99 seconds fit into the first
		// wait. The first title may be asked a little later than the next few.
		if took := time.Since(start); took > 2*time.Hour+30*time.Second {
			t.Errorf("took %v", took)
		}
		if c := x.counters.Snapshot(); c.Requests != 102 || c.Retries != 2 || c.OK != 100 {
			t.Errorf("got %+v", c)
		}
	})
}

func TestRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(101)...)
		x.limits.Rate = 10
		start := time.Now()
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 10*time.Second || took > 10200*time.Millisecond {
			t.Errorf("101 requests at 10/s took %v", took)
		}
	})
}

func TestInterruptedRunDrainsAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := t.TempDir()
		x := newTestRun(numbered(100)...)
		x.store = openStore(t, files)
		ctx, cancel := context.WithCancel(t.Context())
		const last = 50
		x.service.answer = func(ctx context.Context, _ string, _ int) error {
			if x.service.asked() >= last { // whichever input it is: batches of lookups mix up the order
				cancel()
			}
			return wait(ctx, time.Second)
		}
		err := x.run(ctx)
		var stop *StopError
		if !errors.As(err, &stop) || stop.Cause != account.Interrupted {
			t.Fatalf("got %v", err)
		}
		if x.sink.closed || !x.sink.aborted {
			t.Error("the output of a stopped run was published")
		}
		asked := x.service.asked()
		if asked < last || asked >= last+x.limits.InFlight { // the other workers' may begin in the same instant
			t.Errorf("%d requests: none may start after the stop", asked)
		}
		if err := x.store.Close(); err != nil {
			t.Fatal(err)
		}

		time.Sleep(time.Second) // what was answered before a run starts counts as stored
		y := newTestRun(numbered(100)...)
		y.store = openStore(t, files)
		if err := y.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := y.service.asked(); again != 100-asked {
			t.Errorf("the second run asked %d times, want %d", again, 100-asked)
		}
		if c := y.counters.Snapshot(); c.FromStore != int64(asked) || c.OK != 100 || len(y.sink.lines) != 100 {
			t.Errorf("got %+v and %d rows", c, len(y.sink.lines))
		}
		if err := y.store.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRequestsOutlastTheStopByTheGraceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun("hangs")
		x.options.Grace = 5 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		x.service.answer = func(ctx context.Context, _ string, _ int) error {
			cancel()
			return wait(ctx, time.Hour)
		}
		start := time.Now()
		var stop *StopError
		if err := x.run(ctx); !errors.As(err, &stop) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestWorkersThatWaitForTheirTurnStopAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(10)...)
		x.limits.Rate = 1.0 / 3600
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		var stop *StopError
		if err := x.run(ctx); !errors.As(err, &stop) || time.Since(start) != time.Minute || x.service.asked() != 1 {
			t.Errorf("got %v after %v and %d requests", err, time.Since(start), x.service.asked())
		}
	})
}

func TestErrorsThatEndTheRun(t *testing.T) {
	broken := errors.New("broken")
	refuse := func(class client.Class) func(context.Context, string, int) error {
		return func(context.Context, string, int) error {
			time.Sleep(10 * time.Millisecond) // in which no other request begins beyond those in flight
			return &client.Error{Class: class, Err: broken}
		}
	}
	for _, tt := range []struct {
		name  string
		stage func(*testRun)
		check func(error) bool
	}{
		{"quota", func(x *testRun) { x.service.answer = refuse(client.Quota) }, func(err error) bool {
			stop, ok := errors.AsType[*StopError](err)
			return ok && stop.Cause == account.QuotaExhausted
		}},
		{"auth", func(x *testRun) { x.service.answer = refuse(client.Auth) }, isServiceError},
		{"fatal", func(x *testRun) { x.service.answer = refuse(client.Fatal) }, isServiceError},
		{"source", func(x *testRun) { x.source.err = broken }, func(err error) bool { return err == broken }},
		{"source with a wrapped io.EOF", func(x *testRun) { x.source.err = fmt.Errorf("%w: %w", broken, io.EOF) }, func(err error) bool { return true }},
		{"sink", func(x *testRun) { x.sink.err = broken }, func(err error) bool { return errors.Is(err, broken) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(100)...)
				tt.stage(x)
				if err := x.run(t.Context()); !errors.Is(err, broken) || !tt.check(err) {
					t.Errorf("got %v", err)
				}
				if x.sink.closed || !x.sink.aborted {
					t.Error("the output was published")
				}
				// A request may begin while the error of another is reported.
				if n := x.service.asked(); n > 100 || !strings.HasPrefix(tt.name, "source") && tt.name != "sink" && n > 2*x.limits.InFlight {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

func isServiceError(err error) bool {
	_, ok := errors.AsType[*ServiceError](err)
	return ok
}

func TestReadingStopsAtTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(10_000)...)
		x.options.Window = 100 * taskOverhead
		most := int64(0)
		x.service.answer = func(ctx context.Context, input string, _ int) error {
			if input == "title 1" {
				err := wait(ctx, time.Hour)
				most = x.source.read.Load()
				return err
			}
			return nil
		}
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most < 50 || most > 101 {
			t.Errorf("%d records read while the first was asked, window for 100", most)
		}
		if len(x.sink.lines) != 10_000 {
			t.Errorf("%d rows", len(x.sink.lines))
		}
	})
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(100)...)
		x.options.Limit = 7
		if err := x.run(t.Context()); err != nil || len(x.sink.lines) != 7 || !x.sink.closed {
			t.Errorf("got %v, %d rows", err, len(x.sink.lines))
		}
	})
}

func TestRejectionsAreKept(t *testing.T) {
	files := t.TempDir()
	refuse := func(_ context.Context, input string, _ int) error {
		if input == "other" {
			return nil
		}
		return &client.Error{Class: client.Rejected, Status: 404, Detail: "gone"}
	}
	var first []string
	for _, want := range []int{2, 0} {
		x := newTestRun("thing", "other")
		x.store = openStore(t, files)
		x.service.answer = refuse
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := x.service.asked(); n != want {
			t.Errorf("%d requests, want %d", n, want)
		}
		if first == nil {
			first = x.sink.lines
		}
		if !slices.Equal(x.sink.lines, first) {
			t.Errorf("got %q and then %q", first, x.sink.lines)
		}
		if err := x.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnswersAreReplaced asks again for answers that are too old: the new answers replace the old ones.
func TestAnswersAreReplaced(t *testing.T) {
	files := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for range 3 {
			store, err := answers.Open(answers.Options{Path: filepath.Join(files, "answers.db"), Source: "http://service", MaxAge: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			x := newTestRun(append(numbered(300), numbered(300)...)...)
			x.store = store
			if err := x.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := x.service.asked(); n != 300 {
				t.Errorf("%d requests", n)
			}
			if stats, err := store.Stats(time.Now()); err != nil || stats.Groups[0].Answers != 300 || !stats.Groups[0].Oldest.After(time.Now().Add(-time.Hour)) {
				t.Errorf("got %+v, %v", stats, err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
		}
	})
}

func TestDryRun(t *testing.T) {
	store := openStore(t, t.TempDir())
	defer store.Close()
	batch := store.NewBatch()
	known := client.Request{Kind: client.Product, Input: "hat", Classification: client.ProductTaxonomy}
	batch.Add(known, answers.Outcome{Answer: client.Answer{Body: []byte(`{"product_taxonomy":[]}`)}})
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	x := newTestRun("shoe", " shoe", "", "hat", "coat", "hat")
	got, err := NewForecast(t.Context(), Parts{Source: x.source, Store: store, Counters: x.counters}, x.options, nil)
	want := forecast.Forecast{Records: 6, Blank: 1, Distinct: 3, Repeated: 2, Answered: 1, Digest: got.Digest, Inputs: []string{"shoe", " shoe", "", "hat", "coat", "hat"}}
	if err != nil || !reflect.DeepEqual(got, want) || got.ToAsk() != 2 {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// A run that was stopped, and goes on after another process has taken over its requests, asks none of them again but those
// in flight.
func TestStoppedRun(t *testing.T) {
	files := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, files)
		defer store.Close()
		x := newTestRun(numbered(50)...)
		x.store, x.limits.InFlight = store, 1
		x.service.answer = func(_ context.Context, input string, _ int) error {
			if input == "title 1" {
				takeOver(t, files, numbered(50)[1:])
				time.Sleep(time.Minute) // the run sees that its claims are gone
			}
			return nil
		}
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := x.service.asked(); n != 1 || len(x.sink.lines) != 50 {
			t.Errorf("%d requests, %d rows", n, len(x.sink.lines))
		}
	})
}

// takeOver answers inputs as a process does that takes the other for gone.
func takeOver(t *testing.T, files string, inputs []string) {
	db, err := sqlite3.Open("file:" + filepath.Join(files, "answers.db") + "?vfs=bulkcat")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Exec("DELETE FROM claims; DELETE FROM owners"), db.Close()); err != nil {
		t.Fatal(err)
	}
	other := openStore(t, files)
	b := other.NewBatch()
	for _, input := range inputs {
		b.Add(client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: input}, answers.Outcome{Answer: client.Answer{
			Body: []byte(`{"product_taxonomy":[{"value":"A","confidence":0.5}]}`), AnsweredAt: time.Now(),
		}})
	}
	if err := errors.Join(b.Commit(), other.Close()); err != nil {
		t.Fatal(err)
	}
}
