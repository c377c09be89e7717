package pipeline

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/stdin"
	"github.com/bulkcat/bulkcat/pipeline/places"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// readsStdin reports whether standard input is one of the inputs.
func (o *Options) readsStdin() bool { return slices.Contains(o.Input.Paths, "-") }

// spoolPath returns the path of the copy of standard input; "" if there is no copy: standard input is not read, can be read
// again, or there is no place beside the output.
func (o *Options) spoolPath() string {
	if o.noSpool || o.Output.Path == "-" || !o.readsStdin() || isRegular(o.Input.Stdin) {
		return ""
	}
	return runfiles.StdinPath(o.Output.Path)
}

// isRegular reports whether standard input is a regular file.
func isRegular(in io.Reader) bool { return len(places.RegularFile("-", in)) > 0 }

// newSpool puts a spool between a pipe and the run; nil if the run needs no copy of standard input.
func newSpool(ctx context.Context, o *Options, lock *disk.Lock) (*stdin.Spool, error) {
	path := o.spoolPath()
	if path == "" {
		return nil, nil
	}
	if err := checkSpool(ctx, path, o.Output, lock); err != nil {
		return nil, err
	}
	spool, err := stdin.NewSpool(o.Input.Stdin, path)
	if err == nil {
		o.Input.Stdin = spool
	}
	return spool, err
}

// checkSpool refuses to replace a file that is no copy of standard input. The file is taken for a copy if an earlier run of the
// output has read standard input, or was killed.
func checkSpool(ctx context.Context, path string, out OutputOptions, lock *disk.Lock) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || out.Overwrite || lock.Claimed() != "" {
		return nil
	}
	if err != nil {
		return err
	}
	last, err := runfiles.ReadLast(ctx, runfiles.AccountPath(out.Path))
	for _, a := range []*account.Account{last, last.OfRows()} {
		if err == nil && a != nil && slices.Contains(a.Settings.Inputs, "-") {
			return nil
		}
	}
	return &OutputTakenError{Path: path, Reason: "is where the run keeps standard input, and is not the copy of an earlier run"}
}

// checkKept refuses to replace the copy of standard input of a run that is not complete, as for a task that is started again without
// its pipe. Call it if the input has no records.
func (o *opened) checkKept() error {
	if o.spool == nil || o.options.Output.Overwrite {
		return nil
	}
	path := o.options.spoolPath()
	kept, err := os.Stat(path)
	if err != nil || kept.Size() == 0 {
		return nil // Keep reports other errors
	}
	return &OutputTakenError{Path: path, Reason: "is the standard input of a run that is not complete, and standard input is empty now: go on with < " + path}
}

// endSpool removes the spool of a complete run, and reports whether the spool is kept. Other runs need their spool to be started
// again. If isSettled, no record has to be asked again, and endSpool also removes the spool of an earlier run that this run has
// read.
func (o *opened) endSpool(isComplete, isSettled bool) (kept bool, err error) {
	if o.spool != nil {
		if err := o.spool.Close(); err != nil || !isComplete {
			return true, err
		}
		err = o.spool.Remove()
	}
	if err != nil || !isSettled {
		return false, err
	}
	return false, removeReadSpool(&o.options)
}

// removeReadSpool removes the spool of an earlier run that this run, now complete, has read to its end
// as its standard input.
func removeReadSpool(o *Options) error {
	if o.Offline || o.Limit > 0 || o.Sample > 0 || o.Output.Path == "-" || !o.readsStdin() || !isRegular(o.Input.Stdin) {
		return nil
	}
	path := runfiles.StdinPath(o.Output.Path)
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
