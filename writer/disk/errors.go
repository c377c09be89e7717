package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Error says which operation on which output failed, such as "writing out.parquet: no space left on device".
type Error struct {
	Op   string // "locking", "opening", "writing", "publishing" or "discarding"
	Path string // the output as the caller named it, never the temporary file
	Err  error  // the cause
}

func (e *Error) Error() string {
	if e.Op == "locking" {
		cause := e.Err.Error()
		if errors.Is(e.Err, fs.ErrPermission) {
			cause = "no permission for its folder"
		}
		return e.Path + " cannot be written: " + cause
	}
	return e.Op + " " + e.Path + ": " + e.Err.Error()
}

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

// Failed returns an *Error with the Cause of err, or nil if err is nil. The error contains no temporary file name. If err wraps an
// *Error, Failed returns that: it says more exactly what has failed.
func Failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed
	}
	return &Error{Op: op, Path: path, Err: Cause(err)}
}

// Cause returns err without the file names of package os.
func Cause(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	default:
		return err
	}
}
