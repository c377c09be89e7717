package pipeline

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/places"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
)

// readsStdin reports whether standard input is one of the inputs.
func (o *SessionOptions) readsStdin() bool { return slices.Contains(o.Input.Paths, "-") }

// readsOnce reports whether the input cannot be read a second time.
func (o *SessionOptions) readsOnce() bool { return o.readsStdin() || o.Input.Records != nil }

// spoolPath is where standard input is kept while the run needs it; "" where no copy is needed:
// standard input is not read, can be read again, or there is no place beside the output.
func (o *SessionOptions) spoolPath() string {
	if o.noSpool || o.Output.Path == "-" || !o.readsStdin() || isRegular(o.Input.Stdin) {
		return ""
	}
	return record.StdinPath(o.Output.Path)
}

// isRegular reports whether standard input is a file that the shell has opened.
func isRegular(in io.Reader) bool { return len(places.RegularFile("-", in)) > 0 }

// openSpool puts a spool between a pipe and the run, if one is needed.
func (s *Session) openSpool(ctx context.Context) (err error) {
	path := s.options.spoolPath()
	if path == "" {
		return nil
	}
	if err := s.checkSpool(ctx, path); err != nil {
		return err
	}
	if s.spool, err = reader.NewSpool(s.options.Input.Stdin, path); err != nil {
		return err
	}
	s.options.Input.Stdin, s.interrupt = s.spool, s.spool.Interrupt
	return nil
}

// checkSpool refuses to replace a file that is no copy of standard input: no earlier run of the output has read standard
// input, and none was killed.
func (s *Session) checkSpool(ctx context.Context, path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || s.options.Output.Overwrite || s.lock.Claimed() != "" {
		return nil
	}
	if err != nil {
		return err
	}
	last, err := record.ReadAccount(ctx, record.AccountPath(s.options.Output.Path))
	if err == nil && last != nil && slices.Contains(last.Settings.Inputs, "-") {
		return nil
	}
	return &OutputTakenError{Path: path, Reason: "is where the run keeps standard input, and is not the copy of an earlier run"}
}

// endSpool removes the spool of a complete run. Other runs need the spool to be started again.
func (s *Session) endSpool(complete bool) error {
	if s.spool == nil {
		return nil
	}
	if err := s.spool.Close(); err != nil || !complete {
		return err
	}
	err := s.spool.Remove()
	s.spool = nil
	return err
}

// removeReadSpool removes the spool of an earlier run that this run, now complete, has read to its end
// as its standard input.
func (s *Session) removeReadSpool() error {
	o := &s.options
	if o.Offline || o.Limit > 0 || o.Sample > 0 || o.Output.Path == "-" || !o.readsStdin() || !isRegular(o.Input.Stdin) {
		return nil
	}
	path := record.StdinPath(o.Output.Path)
	read, err := o.Input.Stdin.(*os.File).Stat()
	if err != nil {
		return nil
	}
	if kept, err := os.Lstat(path); err != nil || !os.SameFile(read, kept) {
		return nil
	}
	o.Log.Info("the run is complete: its copy of standard input is removed", "file", path)
	return os.Remove(path)
}

// SpoolPath is the file that keeps standard input; "" if there is none.
func (s *Session) SpoolPath() string {
	if s.spool == nil {
		return ""
	}
	return s.spool.Path()
}
