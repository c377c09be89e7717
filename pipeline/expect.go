package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// ExpectOptions say what must hold of the output. The error of a run whose output breaks an expectation is an *expect.BrokenError.
type ExpectOptions struct {
	List    []expect.Expectation
	Against string // the output of an earlier run, for the expectations that compare; without one they are left out
	Hold    bool   // an output that breaks an expectation is not published: of a folder only _SUCCESS is missing
	Stop    bool   // as Hold, and the run stops, resumable, as soon as it is clear that an expectation will be broken: see expect.Early
}

// withHold holds back what stops.
func (o ExpectOptions) withHold() ExpectOptions {
	o.Hold = o.Hold || o.Stop
	return o
}

func (o SessionOptions) checkExpectations() error {
	var err error
	switch e, path := o.Expect.withHold(), o.Output.Path; {
	case len(e.List) == 0 && e.Against == "" && !e.Hold:
	case len(e.List) == 0:
		err = errors.New("there are none: say what must hold")
	case path == "-" || o.hasNoOutput():
		err = expect.ErrStream
	case e.Hold && storage.IsURL(path):
		err = fmt.Errorf("%s: an object is published before it can be read: write to a local file, or keep the output", path)
	case e.Against != "" && writer.Clean(e.Against) == writer.Clean(path) && (storage.IsURL(path) || o.Output.IsFolder()):
		err = fmt.Errorf("%s: the earlier output is replaced before it can be compared: write to another place", path)
	default:
		err = expect.CheckAgainst(e.List, e.Against)
	}
	if err == nil {
		return nil
	}
	return &OptionError{Option: "Expect", Err: err}
}

// checkOf returns the check of the output before it is published; nil without expectations. Objects are checked by expected.
func (s *Session) checkOf(ctx context.Context, account *record.Account) writer.CheckFunc {
	if len(s.options.Expect.List) == 0 {
		return nil
	}
	return func(path string) error {
		s.unread = s.checkOutput(ctx, account, path)
		switch hold := s.options.Expect.withHold().Hold; {
		case ctx.Err() != nil:
			return &StopError{Cause: record.Interrupted, Err: context.Cause(ctx)}
		case hold && s.unread != nil:
			return s.unread
		case hold && expect.Broken(account.Expectations):
			return &expect.BrokenError{Results: account.Expectations, Held: true}
		}
		return nil
	}
}

// judge returns the function that stops a run early, if the options want that. It is called in the order of the records.
func (s *Session) judge(account *record.Account) func(record.Statuses) error {
	o := &s.options
	if !o.Expect.Stop || o.Offline {
		return nil
	}
	early := expect.NewEarly(o.Expect.List)
	return func(first record.Statuses) error {
		all := int64(0)
		if o.Shard.Count == 0 { // else the records of the shard are not counted
			all = s.total.Counted() * int64(len(o.Classifications))
		}
		err := early.Check(first, all)
		if broken, ok := errors.AsType[*expect.BrokenError](err); ok {
			account.Expectations = broken.Results
			return &StopError{Cause: record.Expectation, Err: err}
		}
		return err
	}
}

// checkOutput checks the output at a path, and notes the results in the account. The error is that of reading.
func (s *Session) checkOutput(ctx context.Context, account *record.Account, path string) error {
	o := &s.options
	format, err := o.Output.FileFormat()
	if err != nil {
		return err
	}
	output := diff.Side{Kind: o.Kind, Scheme: o.Scheme, Dedupe: o.Dedupe}
	if output.Parts, err = readback.List(ctx, path, format); err != nil {
		return err
	}
	for i := range output.Parts {
		output.Parts[i].Escaped = o.Output.EscapeFormulas
	}
	earlier, err := expect.Earlier(ctx, o.Expect.Against)
	if err != nil {
		return err
	}
	account.Expectations, err = expect.Check(ctx, o.Expect.List, output, earlier, "")
	return err
}

// findEarlier refuses an earlier output that cannot be compared, before the run asks.
func (s *Session) findEarlier(ctx context.Context) error {
	against := s.options.Expect.Against
	earlier, err := expect.Earlier(ctx, against)
	if err == nil && earlier != nil && slices.ContainsFunc(s.options.Expect.List, expect.Expectation.Compares) {
		err = expect.Comparable(ctx, *earlier, s.options.Classifications)
	}
	if err != nil {
		return &OptionError{Option: "Expect.Against", Err: err}
	}
	if earlier == nil && against != "" {
		s.options.Log.Warn("there is no earlier output to compare with", "path", against)
	}
	return nil
}

// expected returns the error of a run that is complete: nil if its output was read and meets the expectations.
func (s *Session) expected(ctx context.Context, account *record.Account) error {
	o := &s.options
	if len(o.Expect.List) == 0 {
		return nil
	}
	if storage.IsURL(o.Output.Path) {
		s.unread = s.checkOutput(ctx, account, o.Output.Path)
	}
	switch {
	case s.unread != nil:
		return fmt.Errorf("the output is published, and was not checked: %w", s.unread)
	case len(account.Expectations) == 0:
		return errors.New("the output is published, and was not checked")
	case expect.Broken(account.Expectations):
		return &expect.BrokenError{Results: account.Expectations}
	}
	return nil
}
