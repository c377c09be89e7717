package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// ExpectOptions say what must hold of the output. The error of a run whose output breaks an expectation is an *expect.BrokenError.
type ExpectOptions struct {
	List    []expect.Expectation
	Against string // the output of an earlier run, with which expectations compare; "" leaves these expectations out
	Hold    bool   // a file that breaks an expectation is not published; a folder gets no _SUCCESS
	Stop    bool   // as Hold, and the run stops, resumable, as soon as it is clear that an expectation will be broken: see expect.Early
}

// holds reports whether an output that breaks an expectation is not published.
func (o *ExpectOptions) holds() bool { return o.Hold || o.Stop }

func (o Options) checkExpectations() error {
	var err error
	switch e, path := &o.Expect, o.Output.Path; {
	case len(e.List) == 0 && e.Against == "" && !e.holds():
	case len(e.List) == 0:
		err = errors.New("there are none: say what must hold")
	case path == "-" || o.hasNoOutput():
		err = expect.ErrStream
	case e.holds() && storage.IsURL(path):
		err = fmt.Errorf("%s: an object is published before it can be read: write to a local file, or keep the output", path)
	case e.Against != "" && disk.Clean(e.Against) == disk.Clean(path) && (storage.IsURL(path) || o.Output.IsFolder()):
		err = fmt.Errorf("%s: the earlier output is replaced before it can be compared: write to another place", path)
	default:
		err = expect.CheckAgainst(e.List, e.Against)
	}
	if err == nil {
		return nil
	}
	return &OptionError{Option: "Expect", Err: err}
}

// check checks the output of a run against its expectations.
type check struct {
	run     *claimed
	results []account.Expected
	unread  error // of reading the output
}

// newCheck returns nil without expectations.
func (c *claimed) newCheck() *check {
	if len(c.options.Expect.List) == 0 {
		return nil
	}
	return &check{run: c}
}

// function returns the function that checks the output before it is published; nil for nil. end checks objects.
func (c *check) function(ctx context.Context) writer.CheckFunc {
	if c == nil {
		return nil
	}
	return func(path string) error {
		c.read(ctx, path)
		switch hold := c.run.options.Expect.holds(); {
		case ctx.Err() != nil:
			return &StopError{Cause: account.Interrupted, Err: context.Cause(ctx)}
		case hold && c.unread != nil:
			return c.unread
		case hold && expect.Broken(c.results):
			return &expect.BrokenError{Results: c.results, Held: true}
		}
		return nil
	}
}

// read reads the output at a path.
func (c *check) read(ctx context.Context, path string) {
	o := &c.run.options
	output := diff.Side{Kind: o.Kind, Requested: o.Requested}
	if output.Parts, c.unread = readback.List(ctx, path, &c.run.account.Settings); c.unread != nil {
		return
	}
	c.results, c.unread = expect.Check(ctx, o.Expect.List, output, c.run.earlier, "")
}

// end returns the error of a run that is complete: nil if its output was read and meets the expectations.
func (c *check) end(ctx context.Context) error {
	if c == nil {
		return nil
	}
	if path := c.run.options.Output.Path; storage.IsURL(path) {
		c.read(ctx, path)
	}
	switch {
	case c.unread != nil:
		return fmt.Errorf("the output is published, and was not checked: %w", c.unread)
	case len(c.results) == 0:
		return errors.New("the output is published, and was not checked")
	case expect.Broken(c.results):
		return &expect.BrokenError{Results: c.results}
	}
	return nil
}

// judged returns the results of the check, or the results in err if a broken expectation has stopped the run early.
func (c *check) judged(err error) []account.Expected {
	if broken, ok := errors.AsType[*expect.BrokenError](err); ok {
		return broken.Results
	}
	if c == nil {
		return nil
	}
	return c.results
}
