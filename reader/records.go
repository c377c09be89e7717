package reader

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"unicode/utf8"
)

// InMemory is the name of Options.Records in FileInfo and in errors.
const InMemory = "(memory)"

// Inputs returns a sequence of records without fields, for Options.Records.
func Inputs(inputs iter.Seq[string]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for input := range inputs {
			if !yield(Record{Input: input}, nil) {
				return
			}
		}
	}
}

// memory ranges over Options.Records in a goroutine, one record ahead of Read. So a Read that waits for the sequence can be
// interrupted.
type memory struct {
	items   chan memoryItem // nil before the first Read; closed when the sequence has ended
	closing chan struct{}
	ended   sync.WaitGroup
}

type memoryItem struct {
	record Record
	err    error
}

func (m *memory) start(records iter.Seq2[Record, error]) {
	m.items, m.closing = make(chan memoryItem), make(chan struct{})
	m.ended.Go(func() {
		defer close(m.items)
		for record, err := range records {
			record.Fields, record.Nulls = slices.Clone(record.Fields), slices.Clone(record.Nulls) // the sequence may reuse them
			select {
			case m.items <- memoryItem{record, err}:
			case <-m.closing:
				return
			}
			if err != nil {
				return
			}
		}
	})
}

// stop ends the sequence and waits until it has returned.
func (m *memory) stop() {
	if m != nil && m.items != nil {
		close(m.closing)
		m.ended.Wait()
		m.items = nil
	}
}

// ofMemory returns the input of Options.Records. Its FileInfo is never Whole, because it has no checksum to compare.
func (r *Reader) ofMemory() *file {
	f := &file{info: FileInfo{Name: InMemory}, format: new(inputFormat)}
	for _, name := range columnNames(r.options.RecordColumns) {
		f.addColumn(Column{Name: name})
	}
	r.memory, r.total = new(memory), -1
	return f
}

// readMemory reads the next record of Options.Records.
func (r *Reader) readMemory() (Record, error) {
	if r.memory.items == nil {
		r.memory.start(r.options.Records)
	}
	select {
	case item, more := <-r.memory.items:
		switch {
		case !more:
			r.err = io.EOF
		case item.err != nil:
			r.err = &ReadError{InMemory, r.number + 1, item.err}
		default:
			return r.checked(item.record), nil
		}
	case <-r.ctx.Done():
		r.err = ErrInterrupted
	}
	return Record{}, r.err
}

// checked returns a record of Options.Records with the guarantees of Read.
func (r *Reader) checked(record Record) Record {
	r.number++
	record.Number = r.number
	record.File, record.Line = cmp.Or(record.File, InMemory), cmp.Or(record.Line, r.number)
	if reason := r.fault(&record); reason != "" {
		record.Input, record.Fields, record.Nulls = "", nil, nil
		record.Err = &RowError{record.File, record.Line, reason}
	}
	if len(record.Fields) == 0 {
		record.Fields = r.blank
	}
	return record
}

// fault returns why a record of Options.Records is malformed; "" if it is not.
func (r *Reader) fault(record *Record) string {
	row, isRow := errors.AsType[*RowError](record.Err)
	switch {
	case isRow:
		return row.Reason
	case record.Err != nil:
		return record.Err.Error()
	case len(record.Fields) != 0 && len(record.Fields) != len(r.columns), len(record.Nulls) != 0 && len(record.Nulls) != len(record.Fields):
		return fmt.Sprintf("the record has %d fields and %d nulls, and there are %d columns", len(record.Fields), len(record.Nulls), len(r.columns))
	case !utf8.ValidString(record.Input), slices.ContainsFunc(record.Fields, func(field string) bool { return !utf8.ValidString(field) }):
		return "invalid UTF-8"
	}
	return ""
}
