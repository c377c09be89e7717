package pipeline

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// openInput opens the input. What waits for a pipe ends with ctx, and with the run.
func (s *Session) openInput(ctx context.Context) error {
	o := &s.options
	if s.interrupt == nil && o.readsStdin() && !isRegular(o.Input.Stdin) {
		pump := reader.NewPump(o.Input.Stdin)
		o.Input.Stdin, s.interrupt = pump, pump.Interrupt
	}
	o.Input.Context, s.stopReads = context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, s.endReading)()
	input, err := reader.Open(o.Input)
	if err != nil {
		return causeOf(ctx, err)
	}
	s.input.Store(input)
	o.Output.Resolve(input)
	return nil
}

// inputsAgain are the options of a further pass over the inputs, which needs no carried columns. The run itself warns.
func inputsAgain(o reader.Options) reader.Options {
	o.InputsOnly, o.Log = true, nil
	return o
}

// endReading ends the reads that wait for a pipe or for object storage.
func (s *Session) endReading() {
	s.stopReads()
	if s.interrupt != nil {
		s.interrupt()
	}
}

// causeOf gives the reason for which reading was interrupted, and other errors as they are.
func causeOf(ctx context.Context, err error) error {
	if errors.Is(err, reader.ErrInterrupted) || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}

// countedBytes bounds the size of inputs that are read a second time for their number of records: some seconds of
// a processor.
const countedBytes = 1 << 30

// startCount counts the records of local files, beside the run, until stop is called.
func (s *Session) startCount(ctx context.Context) (stop func()) {
	_, bytes := s.input.Load().Progress()
	o := s.options.Input
	for _, path := range o.Paths {
		if path == "-" || storage.IsURL(path) {
			return func() {}
		}
	}
	if bytes <= 0 || bytes > countedBytes || s.options.Sample > 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var counting sync.WaitGroup
	counting.Go(func() {
		if n, ok := countRecords(ctx, o, s.options.Limit); ok {
			s.total.Set(n)
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

// mostRequests is a number of requests that the run does not exceed: the number of lines of the input,
// times the classifications. To count lines takes a hundredth of the time of reading the records and
// looking them up. The answer is false if a file is compressed, has records without lines of their own, or cannot be read.
func (s *Session) mostRequests() (most int64, ok bool) {
	for _, file := range s.input.Load().Files() {
		if !slices.Contains([]string{"csv", "jsonl", "txt"}, file.Format) {
			return 0, false
		}
		lines, ok := countLines(file.Name)
		if !ok {
			return 0, false
		}
		most += lines
	}
	o := &s.options
	if o.Limit > 0 {
		most = min(most, o.Limit)
	}
	if o.Sample > 0 {
		most = min(most, o.Sample)
	}
	return most * int64(len(o.Classifications)), true
}

func countLines(path string) (lines int64, ok bool) {
	file, err := regular.Open(path)
	if err != nil {
		return 0, false // a pattern, perhaps, or a pipe
	}
	defer file.Close() // only read from
	lines = 1          // the last may have no end
	buf := make([]byte, 256<<10)
	for first := true; ; first = false {
		n, err := file.Read(buf)
		if first && reader.IsCompressed(buf[:n]) {
			return 0, false
		}
		lines += int64(bytes.Count(buf[:n], []byte{'\n'}) + bytes.Count(buf[:n], []byte{'\r'}))
		if err != nil {
			return lines, err == io.EOF
		}
	}
}
