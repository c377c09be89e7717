package pipeline

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/writer"
)

// Whoever sees the end of what a failed stage sends on must know that it has failed: else
// the writer takes a cut-off input for a whole one.
func TestStageFailsBeforeItsEndShows(t *testing.T) {
	want := errors.New("the commit failed")
	soft, stop := context.WithCancelCause(context.Background())
	r := &run{soft: soft, stop: stop}
	var g errgroup.Group
	var seen error
	r.stage(&g, 1, func() error { return want }, func() { seen = context.Cause(soft) })
	if err := g.Wait(); err != want || seen != want {
		t.Errorf("the stage ended with %v, and its end showed %v; want %v", err, seen, want)
	}
}

// endingSink knows how it was ended.
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
			r := &run{Parts: Parts{Sink: sink, Counters: new(Counters)}, soft: soft, stop: stop, pending: make(chan *task), rows: make(chan *rowBatch), written: make(chan *rowBatch, rowBatches)}
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

// Rows that could not be passed on stay behind: what comes later is not all.
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
	f.hard = context.Background()
	if f.pass() || len(r.rows) != 0 {
		t.Error("a batch was sent twice")
	}
}

// A fifth of the first attempts may be tried again, beside the reserve.
func TestRetryBudget(t *testing.T) {
	start := time.Now()
	take := func(b *retryBudget, now time.Time) (taken int) {
		for b.take(now) == 0 {
			taken++
		}
		return taken
	}
	for _, tt := range []struct {
		name   string
		firsts int           // first attempts made once the reserve is spent
		sound  int           // retries that succeed then
		after  time.Duration // that pass then
		want   int           // retries that may be made
	}{
		{"nothing", 0, 0, 0, 0},
		{"four first attempts", 4, 0, 0, 0},
		{"five", 5, 0, 0, 1},
		{"a hundred", 100, 0, 0, 20},
		{"no more than the reserve is saved", 1_000_000, 0, 0, retryReserve},
		{"retries that succeed pay for themselves", 0, 7, 0, 7},
		{"a trickle", 0, 0, 9 * time.Second, 9},
		{"all of it", 10, 3, 2 * time.Second, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newRetryBudget(start)
			if got := take(b, start); got != retryReserve {
				t.Fatalf("%d retries at the start, want %d", got, retryReserve)
			}
			for range tt.firsts {
				b.earn(retryShare)
			}
			for range tt.sound {
				b.earn(1)
			}
			// A fifth is no binary fraction: sums of it are a little off.
			b.earn(1e-6)
			if got := take(b, start.Add(tt.after)); got != tt.want {
				t.Errorf("%d retries, want %d", got, tt.want)
			}
		})
	}
	b := newRetryBudget(start)
	take(b, start)
	if got := b.take(start); got != time.Second {
		t.Errorf("the next retry is due in %v, want 1s", got)
	}
}
