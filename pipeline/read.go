package pipeline

import (
	"context"
	"errors"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/reader"
)

// read makes tasks of each record while there is room in the window.
func (r *run) read() error {
	var tasks tasks
	var digest digest
	hash := xxhash.New()
	split := r.options.splitter()
	for all := int64(0); r.options.Limit == 0 || all < r.options.Limit; all++ {
		record, err := r.Source.Read()
		if err == io.EOF {
			break
		}
		// By the caller, unless the run has stopped already. A sequence of the caller may see the end of a context first.
		if errors.Is(err, reader.ErrInterrupted) || errors.Is(err, context.Canceled) {
			r.stop(errInterrupted)
			return nil
		}
		if err != nil {
			return err
		}
		if m := r.options.manifest; m != nil {
			digest = digest.next(hash, &record)
			if record.Number <= m.keptRecords() {
				if r.soft.Err() != nil {
					return nil
				}
				r.countRead(split.holds(&record))
				if err := m.check(record.Number, digest); err != nil {
					return err
				}
				continue
			}
		}
		own := split.holds(&record)
		r.countRead(own)
		if !own {
			if r.soft.Err() != nil {
				return nil
			}
			continue
		}
		for class := range r.options.Classifications {
			t := tasks.next(record, r.answerSize.Load())
			t.class, t.digest = class, digest
			if !r.admit(t) {
				return nil
			}
		}
	}
	if m := r.options.manifest; m != nil {
		if err := m.checkEnd(r.Counters.Read.Load() + r.Counters.Others.Load()); err != nil {
			return err
		}
	}
	r.readAll.Store(true)
	return nil
}

// countRead counts a record of the shard, or of another.
func (r *run) countRead(own bool) {
	if own {
		r.Counters.Read.Add(1)
	} else {
		r.Counters.Others.Add(1)
	}
}

// admit lets a task into the window; false when the run has stopped.
func (r *run) admit(t *task) bool {
	if r.options.Strict {
		if err := r.check(t); err != nil { // only records before this one are in flight
			r.stop(err)
			return false
		}
	}
	t.size = min(t.size, max(1, r.options.Window/basePart)) // so that the window without its reserve admits a task
	if r.window.acquire(r.soft, t.size) != nil {
		return false
	}
	r.pending <- t // never blocks, nor does the next line: the channels hold all tasks that the window admits
	r.lookups <- t
	return true
}

// readAhead opens the window when the writer waits for a task and no task is left to be looked up, so
// that the run goes on with later records. A stage calls readAhead when it begins to wait.
func (r *run) readAhead() {
	if len(r.lookups) == 0 && r.completion.awaited.Load() != nil {
		r.window.open()
	}
}
