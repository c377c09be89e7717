package writer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrClosed is what a sink returns when it is used after Close or Abort.
var ErrClosed = errors.New("the output is closed already")

// Error says which output failed, and while doing what. It reads like
// "writing out.parquet: no space left on device".
type Error struct {
	Op   string // "locking", "opening", "writing", "publishing" or "discarding"
	Path string // the output as the user named it, never the temporary file
	Err  error  // the cause
}

func (e *Error) Error() string { return e.Op + " " + e.Path + ": " + e.Err.Error() }

// Unwrap gives the cause to errors.Is and errors.As, for instance syscall.ENOSPC.
func (e *Error) Unwrap() error { return e.Err }

// BusyError says that another process holds the Lock of an output.
type BusyError struct {
	Path string
	PID  int // that it has written into the lock file; 0 if there is none
}

func (e *BusyError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who += fmt.Sprintf(" (number %d)", e.PID)
	}
	return fmt.Sprintf("%s is writing %s: wait for it to end, or choose another output", who, e.Path)
}

// failed makes an *Error of the cause of err, or nil of nil. The names around the cause are those of
// temporary files, which mean nothing to a user.
func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Path: path, Err: cause(err)}
}

// cause is err without the file names that package os puts around it.
func cause(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	default:
		return err
	}
}

// FormatError says that an output format cannot be told. Its text lists the formats there are.
type FormatError struct {
	Path string // the output whose extension says nothing; "-" is standard output; "" if Name was given
	Name string // the name that is no format's
}

func (e *FormatError) Error() string {
	const formats = "parquet, csv, tsv or jsonl (the text formats also with .gz or .zst, as in csv.gz)"
	switch e.Path {
	case "":
		return fmt.Sprintf("unknown output format %q: --output-format takes %s", e.Name, formats)
	case "-":
		return fmt.Sprintf("standard output has no extension to tell the format from: set --output-format to %s", formats)
	default:
		return fmt.Sprintf("cannot tell the output format of %s from its extension: set --output-format to %s", e.Path, formats)
	}
}
