package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// ExpectOptions say what must hold of the output. The run's error is then an *expect.BrokenError.
type ExpectOptions struct {
	List    []expect.Expectation
	Against string // the output of an earlier run, for the expectations that compare; a missing one is compared with nothing
	Hold    bool   // an output that breaks an expectation is not published: of a folder only _SUCCESS is missing
}

func (o SessionOptions) checkExpectations() error {
	var err error
	switch e := &o.Expect; {
	case len(e.List) == 0 && e.Against == "" && !e.Hold:
	case len(e.List) == 0:
		err = errors.New("there are none: say what must hold")
	case o.Output.Path == "-":
		err = expect.ErrStream
	case e.Hold && storage.IsURL(o.Output.Path):
		err = fmt.Errorf("%s: an object is published before it can be read: write to a local file, or keep the output", o.Output.Path)
	case e.Against == "" && slices.ContainsFunc(e.List, expect.Expectation.Compares):
		err = errors.New("changed and new_categories compare with an earlier output: name it")
	}
	if err == nil {
		return nil
	}
	return &OptionError{Option: "Expect", Err: err}
}

// checkOf returns the check of the output before it is published; nil without expectations. An object is checked by
// checkObject.
func (s *Session) checkOf(ctx context.Context, account *record.Account) writer.CheckFunc {
	if len(s.options.Expect.List) == 0 {
		return nil
	}
	return func(path string) error { return s.checkOutput(ctx, account, path) }
}

// checkOutput checks the output at a path, and notes the results in the account. The error is nil if the output is to be published.
func (s *Session) checkOutput(ctx context.Context, account *record.Account, path string) error {
	o := &s.options
	format, err := o.Output.FileFormat()
	if err != nil {
		return err
	}
	output := diff.Side{Kind: o.Kind, Scheme: o.Scheme}
	if output.Parts, err = outputs.List(ctx, path, format); err != nil {
		return err
	}
	for i := range output.Parts {
		output.Parts[i].Escaped = o.Output.EscapeFormulas
	}
	var earlier *diff.Side
	if against := o.Expect.Against; against != "" {
		if earlier, err = expect.Earlier(ctx, against); err != nil {
			return err
		}
		if earlier == nil {
			o.Log.Warn("there is no earlier output: nothing is compared with it", "path", against)
		}
	}
	if account.Expectations, err = expect.Check(ctx, o.Expect.List, output, earlier, ""); err != nil {
		return err
	}
	if o.Expect.Hold && expect.Broken(account.Expectations) {
		return &expect.BrokenError{Results: account.Expectations, Held: true}
	}
	return nil
}

// expected returns the error of a run that is complete: nil if its output meets the expectations.
func (s *Session) expected(ctx context.Context, account *record.Account) error {
	if o := &s.options; len(o.Expect.List) > 0 && storage.IsURL(o.Output.Path) {
		if err := s.checkOutput(ctx, account, o.Output.Path); err != nil {
			return err
		}
	}
	if !expect.Broken(account.Expectations) {
		return nil
	}
	return &expect.BrokenError{Results: account.Expectations}
}
