package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/bulkcat/bulkcat/reader"
)

// spoolPath is where standard input is kept while the run needs it; "" where it need
// not be: it is not read, can be read again, or there is no place beside the output.
func (f *runFlags) spoolPath() string {
	if f.noSpool || f.dryRun || f.output.path == "-" || !slices.Contains(f.input.Paths, "-") || isRegular(f.streams.in) {
		return ""
	}
	return filepath.Clean(f.output.path) + spoolSuffix
}

// spoolSuffix makes the name of the spool from that of the output.
const spoolSuffix = ".stdin"

// interruptible makes what is read from a pipe end when interrupt is called; nil where
// standard input is not read, or is a file, which keeps nobody waiting.
func (f *runFlags) interruptible(s *reader.Spool) (interrupt func()) {
	switch {
	case s != nil:
		return s.Interrupt
	case !slices.Contains(f.input.Paths, "-") || isRegular(f.streams.in):
		return nil
	}
	pump := reader.NewPump(f.streams.in)
	f.streams.in = pump
	return pump.Interrupt
}

// endReadSpool removes the spool of an earlier run that this run, now complete, has read to
// its end from standard input.
func (n *session) endReadSpool() error {
	f := n.flags
	if f.asksNothing() || f.limit > 0 || f.output.path == "-" || !slices.Contains(f.input.Paths, "-") || !isRegular(f.streams.in) {
		return nil
	}
	path := filepath.Clean(f.output.path) + spoolSuffix
	read, err := f.streams.in.(*os.File).Stat()
	if err != nil {
		return nil
	}
	if kept, err := os.Lstat(path); err != nil || !os.SameFile(read, kept) {
		return nil
	}
	n.log.Info("the run is complete: its copy of standard input is removed", "file", path)
	return os.Remove(path)
}

// isRegular says whether standard input is a file that the shell has opened.
func isRegular(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// spool puts a spool between a pipe and the run; nil where none is needed.
func (f *runFlags) spool() (*reader.Spool, error) {
	path := f.spoolPath()
	if path == "" {
		return nil, nil
	}
	s, err := reader.NewSpool(f.streams.in, path)
	if err != nil {
		return nil, err
	}
	f.streams.in = s
	return s, nil
}

// discardSpool drops what was taken from the pipe by a run that was not to begin, as any
// command does that fails at its start.
func discardSpool(s *reader.Spool) error {
	if s == nil {
		return nil
	}
	return errors.Join(s.Close(), s.Remove())
}

// endSpool removes the spool of a complete run. The others need it to be started again.
func endSpool(s *reader.Spool, complete bool) error {
	if s == nil {
		return nil
	}
	if err := s.Close(); err != nil || !complete {
		return err
	}
	return s.Remove()
}
