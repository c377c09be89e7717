package answers

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// LockedError says that another process has the store open.
type LockedError struct {
	Dir string
	PID int // of the process that last opened it for writing; 0 if unknown
}

func (e *LockedError) Error() string {
	last := ""
	if e.PID != 0 {
		last = fmt.Sprintf(" (process %d was the last to open it for writing)", e.PID)
	}
	return fmt.Sprintf("the store %s is in use by another process%s: wait for it to end, or choose another with --store", e.Dir, last)
}

// VersionError says that the store has another format.
type VersionError struct {
	Dir     string
	Version string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the store %s has format %q, this bulkcat reads format %s: use the bulkcat that made it, have that one export its answers for 'bulkcat store import', or choose another store with --store", e.Dir, e.Version, formatVersion)
}

// MissingError says that there is no store in a folder.
type MissingError struct{ Dir string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no store in %s: name the folder that a run keeps its answers in, bulkcat.answers beside the output by default", e.Dir)
}

// FailedError says that the disk refused to read or write. It lasts for as long as the
// store is open.
type FailedError struct {
	Dir string
	Err error // such as syscall.ENOSPC
}

func (e *FailedError) Error() string {
	advice := "see to its disk"
	if errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT) {
		advice = "free space on its disk"
	}
	return fmt.Sprintf("the store %s failed: %v: %s and start the run again, all answers that were committed are kept", e.Dir, e.Err, advice)
}

func (e *FailedError) Unwrap() error { return e.Err }

// GoneError says that the store was removed, or moved, while it was open.
type GoneError struct{ Dir string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the store %s is no longer there: its folder was removed or moved during the run, and what was stored in it is gone with it: put the folder back if you can, and start the run again", e.Dir)
}

// DamageError says that a file of the store is not what was written.
type DamageError struct {
	Dir  string
	File string // "" if unknown
	Err  error
}

func (e *DamageError) Error() string {
	where := e.Dir
	if e.File != "" {
		where += " (" + e.File + ")"
	}
	return fmt.Sprintf("the store %s is damaged: %v: save what is readable with 'bulkcat store export %s', or move the folder away", where, e.Err, e.Dir)
}

func (e *DamageError) Unwrap() error { return e.Err }

// storeError gives an error of the database its type. File is the one that it is about
// unless the database knows better.
func storeError(dir, file string, err error) error {
	if err == nil {
		return nil
	}
	var (
		failed *FailedError
		gone   *GoneError
		damage *DamageError
	)
	if errors.As(err, &failed) || errors.As(err, &gone) || errors.As(err, &damage) {
		return err
	}
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		file = info.Path
	}
	if named, ok := errors.AsType[*fileError](err); ok {
		file = named.name
	}
	if isDisk(err) {
		return &FailedError{Dir: dir, Err: err}
	}
	return &DamageError{Dir: dir, File: file, Err: err}
}

// isDisk tells trouble of the operating system from wrong contents. A file that is gone
// is damage.
func isDisk(err error) bool {
	if pebble.IsCorruptionError(err) || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, ok := errors.AsType[syscall.Errno](err)
	return ok || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrClosed)
}
