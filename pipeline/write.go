package pipeline

import (
	"context"
	"errors"

	"github.com/bulkcat/bulkcat/writer"
)

// rowsPerWrite is how many rows are gathered for one call of the sink, when the next
// task is done already.
const rowsPerWrite = 1024

// write walks the tasks in input order and turns each into rows. It ends the sink:
// closed when every record of the input has its rows, aborted otherwise.
func (r *run) write(hard context.Context) (writer.Published, error) {
	complete, err := r.writeRows(hard)
	if err == nil && complete {
		return r.Sink.Close()
	}
	if err == nil {
		err = context.Cause(r.soft)
	}
	if err == nil {
		err = errIncomplete
	}
	if aborted := r.Sink.Abort(); aborted != nil {
		err = errors.Join(err, aborted)
	}
	return writer.Published{}, err
}

// errIncomplete keeps an output that is not whole from being published whatever happened.
var errIncomplete = errors.New("not every record has its rows")

// writeRows says whether every record has its rows in the sink.
func (r *run) writeRows(hard context.Context) (complete bool, err error) {
	var g gathered
	for t := range r.pending {
		if !t.done.Load() { // about to wait: let the rows go first
			if err := g.flush(r.Sink); err != nil {
				return false, err
			}
		}
		if !r.turn.await(hard, t, r.quiet) {
			return false, nil
		}
		r.Counters.countWritten(t.status(), g.add(t, &r.options))
		r.Counters.Drift.observe(t.answer, r.options.Known)
		r.window.Release(t.size)
		if len(g.rows) >= rowsPerWrite {
			if err := g.flush(r.Sink); err != nil {
				return false, err
			}
		}
	}
	err = g.flush(r.Sink)
	return err == nil && r.readAll.Load(), err
}

// gathered are rows on their way to the sink, with the memory they point into. It is
// reused from flush to flush.
type gathered struct {
	rows    []writer.Row
	entries []writer.Entry
	fields  []string
}

// add makes the rows of a task and says how many.
func (g *gathered) add(t *task, o *Options) int {
	result := t.result(o)
	start := len(g.entries)
	for _, e := range t.answer.Entries {
		g.entries = append(g.entries, writer.Entry(e))
	}
	result.Entries = g.entries[start:]
	start = len(g.fields)
	for _, column := range o.Carry {
		field := ""
		if column < len(t.record.Fields) { // a malformed record has none
			field = t.record.Fields[column]
		}
		g.fields = append(g.fields, field)
	}
	result.Fields = g.fields[start:]
	before := len(g.rows)
	g.rows = o.Schema.Flatten(g.rows, result)
	if o.Manifest != nil {
		o.Manifest.mark(t)
	}
	return len(g.rows) - before
}

func (g *gathered) flush(sink writer.Sink) error {
	if len(g.rows) == 0 {
		return nil
	}
	err := sink.Write(g.rows)
	g.rows, g.entries, g.fields = g.rows[:0], g.entries[:0], g.fields[:0]
	return err
}
