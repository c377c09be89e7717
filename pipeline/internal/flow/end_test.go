package flow

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// A stage that fails says so before it closes its channels: else the writer takes a cut-off input for a
// whole input.
func TestStageFailsBeforeItsEndShows(t *testing.T) {
	want := errors.New("the commit failed")
	soft, stop := context.WithCancelCause(context.Background())
	var g errgroup.Group
	r := &run{group: &g, soft: soft, stop: stop, asks: context.Background()}
	var seen error
	s := newStage("commit", 1, func() error { return want }, func() { seen = context.Cause(soft) })
	r.start(s, s.work)
	if err := g.Wait(); err != want || seen != want {
		t.Errorf("the stage ended with %v, and its end showed %v; want %v", err, seen, want)
	}
}

// endingSink notes whether it was closed or aborted.
type endingSink struct {
	writer.Sink
	closed, aborted bool
}

func (s *endingSink) Write([]writer.Row) error { return nil }
func (s *endingSink) Close() (writer.Published, error) {
	s.closed = true
	return writer.Published{}, nil
}
func (s *endingSink) Abort() error { s.aborted = true; return nil }

func TestOnlyWholeOutputsArePublished(t *testing.T) {
	failure := errors.New("the disk is full")
	for _, tt := range []struct {
		name    string
		readAll bool
		stopped error
		want    error // nil: published
	}{
		{"whole", true, nil, nil},
		{"the reader has not come to its end", false, nil, errIncomplete},
		{"a stage has failed", false, failure, failure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			soft, stop := context.WithCancelCause(context.Background())
			defer stop(nil)
			sink := new(endingSink)
			r := &run{Parts: Parts{Sink: sink, Counters: new(progress.Counters)}, soft: soft, stop: stop, pending: make(chan *task), rows: make(chan *rowBatch), written: make(chan *rowBatch, rowBatches)}
			close(r.pending)
			r.readAll.Store(tt.readAll)
			if tt.stopped != nil {
				stop(tt.stopped)
			}
			r.flatten(context.Background())
			close(r.rows)
			_, err := r.write()
			if !errors.Is(err, tt.want) || sink.closed != (tt.want == nil) || sink.aborted == (tt.want == nil) {
				t.Errorf("got %v, closed %v, aborted %v; want %v", err, sink.closed, sink.aborted, tt.want)
			}
		})
	}
}

// brokenSink fails at the first write, and says when it is aborted.
type brokenSink struct {
	writer.Sink
	aborted chan struct{}
}

var errBroken = errors.New("the output's disk is full")

func (s *brokenSink) Write([]writer.Row) error { return errBroken }
func (s *brokenSink) Abort() error             { close(s.aborted); return nil }

// Requests in flight when another stage fails may be charged: their answers are stored.
func TestAnswersInFlightAreKept(t *testing.T) {
	sink := &brokenSink{aborted: make(chan struct{})}
	x := newTestRun(numbered(100)...)
	x.limits.InFlight = 16
	var asked atomic.Int64
	busy := make(chan struct{}) // closed when all workers are asking
	x.service.answer = func(ctx context.Context, input string, _ int) error {
		if asked.Add(1) == int64(x.limits.InFlight) {
			close(busy)
		}
		if input == "title 1" {
			<-busy
			return nil
		}
		select {
		case <-sink.aborted:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	x.store = openStore(t, t.TempDir())
	defer x.store.Close()
	_, err := Run(t.Context(), Parts{Source: x.source, Attempter: x.service, Sink: sink, Counters: x.counters, Store: x.store, Limits: limits.New(x.limits, time.Now())}, x.options)
	if !errors.Is(err, errBroken) {
		t.Fatalf("got %v", err)
	}
	if n := x.service.asked(); n < x.limits.InFlight || n > 2*x.limits.InFlight {
		t.Errorf("%d were asked", n)
	}
	for input := range x.service.attempts {
		request := client.Request{Kind: client.Product, Input: input, Classification: client.ProductTaxonomy}
		if _, found, err := x.store.Lookup(request); !found || err != nil {
			t.Errorf("the answer to %s is lost: %v", input, err)
		}
	}
}

// interruptedSource waits for input that never comes, until it is interrupted.
type interruptedSource struct {
	*records
	interrupted chan struct{}
}

func (s interruptedSource) Read() (reader.Record, error) {
	record, err := s.records.Read()
	if err == io.EOF {
		<-s.interrupted
		return reader.Record{}, reader.ErrInterrupted
	}
	return record, err
}

// A run ends even if its input does not.
func TestEndsWhileItWaitsForInput(t *testing.T) {
	failure := errors.New("stop")
	for name, stop := range map[string]func(x *testRun, cancel func()) error{
		"by a signal": func(x *testRun, cancel func()) error {
			x.service.answer = func(context.Context, string, int) error { cancel(); return nil }
			return &StopError{Cause: account.Interrupted}
		},
		"by the service": func(x *testRun, _ func()) error {
			x.service.answer = func(context.Context, string, int) error { return &client.Error{Class: client.Fatal, Err: failure} }
			return failure
		},
		"by the output": func(x *testRun, _ func()) error {
			x.sink.err = failure
			return failure
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			x := newTestRun("title 1")
			want := stop(x, cancel)
			source := interruptedSource{x.source, make(chan struct{})}
			_, err := Run(ctx, Parts{
				Source: source, Interrupt: func() { close(source.interrupted) },
				Attempter: x.service, Sink: x.sink, Counters: x.counters,
			}, x.options)
			var stopped *StopError
			if !errors.Is(err, want) && !(errors.As(err, &stopped) && errors.As(want, &stopped)) || x.sink.closed {
				t.Errorf("got %v, want %v; published %t", err, want, x.sink.closed)
			}
		})
	}
}

// After rows that could not be passed on, the later rows are not the whole output.
func TestFlatteningStaysFailed(t *testing.T) {
	failed, fail := context.WithCancel(context.Background())
	r := &run{rows: make(chan *rowBatch), written: make(chan *rowBatch)}
	f := flattening{run: r, hard: failed, batch: &rowBatch{rows: make([]writer.Row, 1)}}
	taken := make(chan *rowBatch)
	go func() {
		taken <- <-r.rows
		fail() // after the batch was sent, and before an empty one has come
	}()
	passed := make(chan bool)
	go func() { passed <- f.pass() }()
	<-taken
	if <-passed {
		t.Fatal("passed on, though the run has failed")
	}
	r.rows, r.written = make(chan *rowBatch, 1), make(chan *rowBatch, 1)
	r.written <- new(rowBatch)
	if f.pass() || len(r.rows) != 0 {
		t.Error("a batch was sent twice")
	}
}
