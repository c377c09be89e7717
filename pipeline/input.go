package pipeline

import (
	"context"
	"errors"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
)

// openInput opens the input. What waits for a pipe ends with ctx, and with the run.
func (s *Session) openInput(ctx context.Context) (err error) {
	o := &s.options
	if s.interrupt == nil && o.readsStdin() && !isRegular(o.Input.Stdin) {
		pump := reader.NewPump(o.Input.Stdin)
		o.Input.Stdin, s.interrupt = pump, pump.Interrupt
	}
	o.Input.Context, s.stopReads = context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, s.endReading)()
	if s.input, err = reader.Open(o.Input); err != nil {
		return causeOf(ctx, err)
	}
	o.Output.resolve(s.input)
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

// readInputs says what was read of each file.
func (s *Session) readInputs() []record.Input {
	files := s.input.Files()
	inputs := make([]record.Input, len(files))
	for i, file := range files {
		inputs[i] = record.Input{Name: file.Name, Bytes: file.Bytes, SHA256: file.SHA256, Whole: file.Whole}
		if s.options.Input.Records == nil {
			inputs[i].Path = record.SeenFrom(s.options.Output.Path, file.Name)
		}
	}
	return inputs
}
