package pipeline

import (
	"context"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// total is the number of records of an input: estimated from the bytes read, until a second reader has counted them.
type total struct {
	counted atomic.Int64 // records of the input and 1; 0 while they are not counted
	mu      sync.Mutex
	shown   int64 // the last estimate
}

const (
	// countedBytes bounds the size of inputs that are read a second time for their number of records: some seconds of
	// a processor.
	countedBytes = 1 << 30

	// steady is the share by which an estimate must differ to replace the one before: lines of different lengths make
	// estimates wobble.
	steady = 0.1
)

// of is the number of records, and whether it is an estimate; 0 if unknown.
func (t *total) of(estimate, limit int64) (records int64, estimated bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.counted.Load(); n > 0 {
		if t.shown = n - 1; limit > 0 {
			t.shown = min(t.shown, limit)
		}
		return t.shown, false
	}
	if math.Abs(float64(estimate-t.shown)) > steady*float64(t.shown) {
		t.shown = estimate
	}
	return t.shown, t.shown > 0
}

// startCount counts the records of local files, beside the run, until stop is called.
func (s *Session) startCount(ctx context.Context) (stop func()) {
	_, bytes := s.input.Progress()
	o := s.options.Input
	for _, path := range o.Paths {
		if path == "-" || storage.IsURL(path) {
			return func() {}
		}
	}
	if bytes <= 0 || bytes > countedBytes {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var counting sync.WaitGroup
	counting.Go(func() {
		if n, ok := countRecords(ctx, o, s.options.Limit); ok {
			s.records.counted.Store(n + 1)
		}
	})
	return func() {
		cancel()
		counting.Wait()
	}
}

// countRecords counts, up to a limit unless it is 0; false if ctx ends or the input cannot be read, of which the run gives the error.
func countRecords(ctx context.Context, o reader.Options, limit int64) (n int64, ok bool) {
	input, err := reader.Open(inputsAgain(o))
	if err != nil {
		return 0, false
	}
	defer input.Close() // only read from
	for ctx.Err() == nil {
		if limit > 0 && n == limit {
			return n, true
		}
		if _, err := input.Read(); err != nil {
			return n, err == io.EOF
		}
		n++
	}
	return 0, false
}
