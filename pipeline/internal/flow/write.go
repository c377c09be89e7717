package flow

import (
	"context"
	"errors"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Output is the bottleneck of a run over stored answers, so it has two stages: flatten makes rows of the
// tasks, and write passes the rows to the sink, which encodes and compresses them.

const (
	// rowsPerWrite is how many rows are gathered for one call of the sink, as long as the next task is done.
	rowsPerWrite = 1024
	// bytesPerWrite is how many bytes of records are enough for one call of the sink, even with fewer rows.
	bytesPerWrite = 1 << 20
	// rowBatches is how many batches circulate between the two stages: one is filled, one waits, one is written.
	rowBatches = 3
)

// rowBatch is rows for the sink, with the memory that the rows point into.
type rowBatch struct {
	rows    []writer.Row
	entries []writer.Entry
	fields  []string
	nulls   []bool   // of the fields
	levels  []string // of the entries

	records  int64              // records whose last rows are in the batch
	statuses account.Statuses   // of the records
	written  []output.RecordEnd // of the records, for a manifest
	size     int64              // bytes of the window that the records take
	excess   int64              // bytes of the entries beyond fewEntries for each answer
}

// reset empties the batch but keeps its memory.
func (b *rowBatch) reset() {
	clear(b.rows)
	clear(b.entries)
	clear(b.fields) // the nulls have no pointers
	clear(b.levels)
	*b = rowBatch{rows: b.rows[:0], entries: b.entries[:0], fields: b.fields[:0], nulls: b.nulls[:0], levels: b.levels[:0], written: b.written[:0]}
}

// flatten makes the rows of the tasks in input order.
func (r *run) flatten(hard context.Context) error {
	f := flattening{run: r, hard: hard, batch: new(rowBatch), statuses: r.options.Folder.KeptStatuses()}
	for range rowBatches - 1 {
		r.written <- new(rowBatch)
	}
	for {
		t, ok := f.next()
		if !ok {
			break
		}
		if !t.done.Load() && !f.pass() || !r.completion.await(hard, t, r.quiet) {
			return nil
		}
		if err := f.handOut(t); err != nil {
			return err
		}
		f.add(t)
		if judge := r.options.Judge; judge != nil {
			if err := judge(f.statuses); err != nil {
				r.stop(err)
				return nil
			}
		}
		if b := f.batch; (len(b.rows) >= rowsPerWrite || b.size >= bytesPerWrite) && !f.pass() {
			return nil
		}
	}
	r.flattened = f.pass() && r.readAll.Load()
	return nil
}

// flattening is the state of the stage.
type flattening struct {
	run   *run
	hard  context.Context
	batch *rowBatch // being filled

	statuses account.Statuses // of all records so far
}

// next takes the next task; false at the end. It sends the batch before it waits for a task.
func (f *flattening) next() (*task, bool) {
	select {
	case t, ok := <-f.run.pending:
		return t, ok
	default:
	}
	if !f.pass() {
		return nil, false
	}
	t, ok := <-f.run.pending
	return t, ok
}

// pass sends the batch, unless it is empty, and takes an empty batch. It returns false from the failure of the run on: a batch
// must not be sent twice, and the rows so far are not all rows.
func (f *flattening) pass() bool {
	if f.hard.Err() != nil {
		return false
	}
	if len(f.batch.rows) == 0 {
		return true
	}
	size := &f.run.answerSize
	size.Store((3*size.Load() + f.batch.excess/max(1, f.batch.statuses.Sum())) / 4)
	select {
	case f.run.rows <- f.batch:
	case <-f.hard.Done():
		return false
	}
	select {
	case f.batch = <-f.run.written:
		return true
	case <-f.hard.Done():
		return false
	}
}

// handOut calls Each with the answer of a task, which is stored.
func (f *flattening) handOut(t *task) error {
	if f.run.Each == nil {
		return nil
	}
	err := t.err
	if t.pending {
		err = ErrPending
	}
	if err = f.run.Each(t.record, t.answer.Entries, err); err != nil {
		return &StopError{Cause: account.Interrupted, Err: err}
	}
	return nil
}

// add makes the rows of a task.
func (f *flattening) add(t *task) {
	b, o := f.batch, &f.run.options
	result, classification := t.result(o), &o.Classifications[t.class]
	start := len(b.entries)
	for _, e := range t.answer.Entries {
		category, known := taxonomy.Category{}, true
		if classification.Index != nil {
			category, known = classification.Index.Find(e.Value)
		}
		f.run.Counters.CountDrift(e.Confidence, known)
		first := len(b.levels)
		b.levels = o.Schema.AppendLevels(b.levels, classification.Name, e.Value)
		b.entries = append(b.entries, writer.Entry{
			Value: e.Value, ID: category.ID, Local: category.Local, Title: e.Title, Confidence: e.Confidence, Levels: b.levels[first:],
		})
	}
	f.run.Counters.Drift.Dropped.Add(int64(t.answer.Dropped))
	if len(t.answer.Entries) > 0 {
		f.run.Counters.ObserveAnswer(t.answer.Best())
	}
	result.Entries = b.entries[start:]
	if !writer.IsSorted(result.Entries) {
		f.run.Counters.Drift.Order.Add(1)
	}
	start = len(b.fields)
	for _, column := range o.Carry {
		field, null := "", true
		if column < len(t.record.Fields) { // a malformed record has no fields
			field, null = t.record.Fields[column], isNull(&t.record, column)
		}
		b.fields, b.nulls = append(b.fields, field), append(b.nulls, null)
	}
	result.Fields, result.Nulls = b.fields[start:], b.nulls[start:]
	b.rows = o.Schema.Flatten(b.rows, result)
	b.statuses.Add(result.Status)
	f.statuses.Add(result.Status)
	misfits := int64(0)
	if t.class == 0 {
		misfits = f.countMisfits(t)
	}
	if t.class == len(o.Classifications)-1 {
		b.records++
	}
	b.excess += entrySize * int64(max(0, len(t.answer.Entries)-fewEntries))
	b.size += t.size
	if o.Folder != nil {
		b.written = append(b.written, output.RecordEnd{Record: t.record.Number, Digest: t.digest, Status: result.Status, Misfits: misfits, Free: t.freeSource != ""})
	}
	t.release()
}

// write passes the rows to the sink. It closes the sink when every record of the input has its rows, and otherwise aborts the
// sink.
func (r *run) write() (writer.Published, error) {
	err := r.writeRows()
	if failed := r.failedAudit.Load(); err == nil && failed != nil {
		err = *failed
	}
	if err == nil && r.flattened {
		err = r.checkLast()
	}
	if err == nil && r.flattened {
		return r.Sink.Close()
	}
	if err == nil {
		err = context.Cause(r.soft)
	}
	if err == nil {
		err = errIncomplete
	}
	r.stop(err) // first, so that no request is sent during the Abort of a slow storage
	if aborted := r.Sink.Abort(); aborted != nil {
		err = errors.Join(err, aborted)
	}
	return writer.Published{}, err
}

// checkLast checks the counts of all records before the rest of the output is published.
func (r *run) checkLast() error {
	if check := r.options.CheckCounts; check != nil {
		if err := check(r.Counters.Snapshot()); err != nil {
			return err
		}
	}
	return r.options.Folder.CheckLast()
}

// errIncomplete keeps an output from being published if a record has no rows.
var errIncomplete = errors.New("not every record has its rows")

func (r *run) writeRows() error {
	for b := range r.rows {
		if err := r.options.Folder.Expect(b.written); err != nil { // before their part may be published
			return err
		}
		if err := r.Sink.Write(b.rows); err != nil {
			return err
		}
		r.Counters.CountWritten(b.records, len(b.rows))
		r.window.release(b.size)
		b.reset()
		r.written <- b
	}
	return nil
}

// countMisfits counts the carried values of a record that do not fit the types of their columns.
func (f *flattening) countMisfits(t *task) (count int64) {
	if !f.run.options.Typed {
		return 0
	}
	for i, typ := range f.run.options.Schema.CarryTypes {
		place := f.run.options.Carry[i]
		if typ.Type == writer.TypeString || place >= len(t.record.Fields) {
			continue
		}
		value := t.record.Fields[place]
		if isNull(&t.record, place) || typ.Fits(value) {
			continue
		}
		count++
		if first := &f.run.Counters.FirstMisfit; first.Load() == nil {
			first.Store(&progress.Misfit{Place: t.place(), Column: account.Carried{Name: f.run.options.Schema.Carry[i], Type: typ.String()}, Value: value})
		}
	}
	f.run.Counters.Misfits.Add(count)
	return count
}

// isNull reports whether a field is null. In formats without nulls an empty field is null.
func isNull(record *reader.Record, place int) bool {
	if place < len(record.Nulls) {
		return record.Nulls[place]
	}
	return record.Fields[place] == ""
}
