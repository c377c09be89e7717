package writer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrClosed is the error of a sink that is used after Close or Abort.
var ErrClosed = errors.New("the output is closed already")

// Error says which operation on which output failed, such as "writing out.parquet: no space left on device".
type Error struct {
	Op   string // "locking", "opening", "writing", "publishing" or "discarding"
	Path string // the output as the caller named it, never the temporary file
	Err  error  // the cause
}

func (e *Error) Error() string { return e.Op + " " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause, for instance syscall.ENOSPC.
func (e *Error) Unwrap() error { return e.Err }

// BusyError says that another process holds the [Lock] of an output.
type BusyError struct {
	Path string
	PID  int // of the other process, from the lock file; 0 if unknown
}

func (e *BusyError) Error() string {
	owner := "another process"
	if e.PID != 0 {
		owner += fmt.Sprintf(" (number %d)", e.PID)
	}
	return fmt.Sprintf("%s is writing %s: wait for it to end, or choose another output", owner, e.Path)
}

// failed returns an *Error with the cause of err, or nil if err is nil. It drops the names of temporary files.
func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Path: path, Err: cause(err)}
}

// cause returns err without the file names of package os.
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

// FormatError says that an output format is unknown. Its text lists the formats.
type FormatError struct {
	Path string // output with an unknown extension; "-" for standard output; "" if Name is set
	Name string // unknown name of a format; "" if Path is set
}

func (e *FormatError) Error() string {
	const formats = "parquet, csv, tsv or jsonl (the text formats also with .gz or .zst, as in csv.gz)"
	switch e.Path {
	case "":
		return fmt.Sprintf("unknown output format %q: choose %s", e.Name, formats)
	case "-":
		return fmt.Sprintf("standard output has no extension to tell the format from: choose %s", formats)
	default:
		return fmt.Sprintf("cannot tell the output format of %s from its extension: choose %s", e.Path, formats)
	}
}

// OptionName returns "writer.Format", as the errors of package reader do: a program with options of its own can then
// name the option that sets the format.
func (e *FormatError) OptionName() string { return "writer.Format" }
