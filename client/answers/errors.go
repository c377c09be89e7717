package answers

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// ForeignError says that a place is neither empty nor a store: nothing there is changed.
type ForeignError struct {
	Dir  string
	Name string // of a file in the folder; "" if Dir is no folder
}

func (e *ForeignError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("%s is no folder: name a new or an empty folder, or a store", e.Dir)
	}
	return fmt.Sprintf("%s is no store and has other files, such as %s: name a new or an empty folder, or a store", e.Dir, e.Name)
}

// LockedError says that another process has the store open.
type LockedError struct {
	Dir string
	PID int // of the process that last opened the store for writing; 0 if unknown
}

func (e *LockedError) Error() string {
	last := ""
	if e.PID != 0 {
		last = fmt.Sprintf(" (process %d was the last to open it for writing)", e.PID)
	}
	return fmt.Sprintf("the store %s is in use by another process%s: wait for it to end, or choose another", e.Dir, last)
}

// OptionName returns "answers.Dir", the option that chooses the store.
func (e *LockedError) OptionName() string { return "answers.Dir" }

// VersionError says that the store has another format.
type VersionError struct {
	Dir     string
	Version string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the store %s has format %s, this bulkcat reads format %s: export its answers with the bulkcat that made it and import them with 'bulkcat store import', or choose another store", e.Dir, e.Version, formatVersion)
}

// OptionName returns "answers.Dir", the option that chooses the store.
func (e *VersionError) OptionName() string { return "answers.Dir" }

// MissingError says that there is no store in a folder.
type MissingError struct{ Dir string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no store in %s: name the folder that a run keeps its answers in, bulkcat.answers beside the output by default", e.Dir)
}

// FailedError says that the disk refused to read or write, or that the store was removed while it
// was open. The error is sticky: the store is of no use until it is opened again.
type FailedError struct {
	Dir string
	Err error // such as syscall.ENOSPC; errGone
}

var errGone = errors.New("its folder was removed or moved")

func (e *FailedError) Error() string {
	advice := "check its disk and start the run again, all answers that were committed are kept"
	switch {
	case errors.Is(e.Err, errGone):
		advice = "put the folder back if you can and start the run again, answers that were stored in it are gone with it"
	case errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT):
		advice = "free space on its disk and start the run again, all answers that were committed are kept"
	}
	return fmt.Sprintf("the store %s failed: %v: %s", e.Dir, e.Err, advice)
}

func (e *FailedError) Unwrap() error { return e.Err }

// DamageError says that a file of the store is missing or damaged. If the file belongs to the index, the index was made
// anew from the log, and the new index is damaged, too.
type DamageError struct {
	Dir   string
	File  string // "" if unknown
	Index bool
	Err   error
}

func (e *DamageError) Error() string {
	advice := fmt.Sprintf("save what is readable with 'bulkcat store export %s', or move the folder away", e.Dir)
	if e.Index {
		advice = "start the command again, it makes the index of the store anew and no answer is lost"
	}
	where := e.Dir
	if e.File != "" {
		where += " (" + e.File + ")"
	}
	return fmt.Sprintf("the store %s is damaged: %v: %s", where, e.Err, advice)
}

func (e *DamageError) Unwrap() error { return e.Err }

// storeError gives an error of the disk, the log or the database its type.
func storeError(dir string, err error) error {
	if err == nil || isTyped(err) {
		return err
	}
	if isDisk(err) {
		return &FailedError{Dir: dir, Err: err}
	}
	damage := &DamageError{Dir: dir, Err: err}
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		damage.File = named.Path
	}
	return damage
}

// isTyped reports whether an error is one of a store that has failed, or that cannot be opened.
func isTyped(err error) bool {
	_, failed := errors.AsType[*FailedError](err)
	_, damage := errors.AsType[*DamageError](err)
	_, version := errors.AsType[*VersionError](err)
	_, missing := errors.AsType[*MissingError](err)
	_, foreign := errors.AsType[*ForeignError](err)
	return failed || damage || version || missing || foreign
}

// isIndexDamage reports whether an error says that the index must be made anew.
func isIndexDamage(err error) bool {
	damage, ok := errors.AsType[*DamageError](err)
	return ok && damage.Index
}

// isDisk reports whether an error is the operating system's, and not about wrong contents. A file that is missing is
// wrong contents.
func isDisk(err error) bool {
	if pebble.IsCorruptionError(err) || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, ok := errors.AsType[syscall.Errno](err)
	return ok || errors.Is(err, errGone) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrClosed)
}
