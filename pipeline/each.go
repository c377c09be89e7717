package pipeline

import (
	"errors"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Each takes the answer to a record, once for each of the classifications in their order. It is called in input order,
// one call at a time; the run waits for it. The entries are those of the service, in its order. The error says why there
// is no answer: an *[client.InputError] or a *[reader.RowError] for an invalid record, a *[client.Error] for a rejected
// one, an *[AttemptsError] for one that the next run asks again, or [ErrPending]. The record and the entries may be kept,
// but not changed; they share memory.
//
// If Each returns an error, the run stops with a [StopError] that wraps the error. Each session calls Each from the first
// record on, also when an earlier session has the answers.
type Each func(record reader.Record, entries []client.Entry, err error) error

// ErrPending is the error of a record whose answer an offline run has not found in the store.
var ErrPending = errors.New("the answer is not stored, and the run asks nothing")

// handOut gives the caller the answer of a task, which is in the store.
func (f *flattening) handOut(t *task) error {
	if f.run.Each == nil {
		return nil
	}
	err := t.err
	if t.pending {
		err = ErrPending
	}
	if err = f.run.Each(t.record, t.answer.Entries, err); err != nil {
		return &StopError{record.Interrupted, err}
	}
	return nil
}

// hasNoOutput reports whether the answers go to Each alone.
func (o *SessionOptions) hasNoOutput() bool { return o.Output.Path == "" && o.Each != nil }

// nowhere is the sink of a session without an output.
type nowhere struct{}

func (nowhere) Write([]writer.Row) error         { return nil }
func (nowhere) Close() (writer.Published, error) { return writer.Published{}, nil }
func (nowhere) Abort() error                     { return nil }
