package answers

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/ncruces/go-sqlite3"
)

// errDamaged says that a stored answer is not the answer that was written.
var errDamaged = errors.New("the stored answer is damaged")

// errGone says that a file of an open store has been removed or replaced.
var errGone = errors.New("a file was removed or replaced while the store was open")

// errClosed says that a store is used after Close.
var errClosed = errors.New("the store is closed")

// MissingError says that there is no store at a path.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no store of answers at %s", e.Path)
}

// ForeignError says that the file at a path is not a store of this version of the program. It is not changed.
type ForeignError struct {
	Path  string
	Newer bool // the file is a store of a later version
}

func (e *ForeignError) Error() string {
	if e.Newer {
		return fmt.Sprintf("the store %s is of a newer bulkcat, and is not changed: update bulkcat, or choose another file", e.Path)
	}
	return fmt.Sprintf("%s is not a store of answers, and is not changed: choose another file", e.Path)
}

// OptionName returns "answers.Path", the option that chooses the store.
func (e *ForeignError) OptionName() string { return "answers.Path" }

// NetworkError says that a store is on a network file system, where processes cannot share it.
type NetworkError struct {
	Path   string
	System string // such as nfs
}

func (e *NetworkError) Error() string {
	return fmt.Sprintf("the store %s is on a network file system (%s), where processes cannot share it: keep it in a local folder, or have one gateway (bulkcat serve --upstream) keep it for all", e.Path, e.System)
}

// OptionName returns "answers.Path", the option that chooses the store.
func (e *NetworkError) OptionName() string { return "answers.Path" }

// DamageError says that a store is damaged: an answer in it may be wrong or missing. Recover copies the intact answers.
type DamageError struct {
	Path string
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the store %s is damaged: %v; bulkcat store recover copies all answers that can be read to a new store", e.Path, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// FailedError says that the disk refused to read or write, or that the store was removed while it was open. All later calls
// return the same error: open the store again. All committed outcomes are kept.
type FailedError struct {
	Path string
	Err  error // such as syscall.ENOSPC
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("the store of answers %s has failed: %v; all answers before are kept", e.Path, e.Err)
}

func (e *FailedError) Unwrap() error { return e.Err }

// explain converts an error of the engine to an error type of this package.
func explain(path string, err error) error {
	var engine *sqlite3.Error
	switch {
	case err == nil, isTyped(err):
		return err
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.IOERR_DATA),
		errors.Is(err, sqlite3.IOERR_CORRUPTFS), errors.Is(err, sqlite3.IOERR_SHORT_READ), errors.Is(err, errDamaged):
		return &DamageError{Path: path, Err: err}
	case errors.Is(err, sqlite3.ERROR) && errors.As(err, &engine): // the statements are valid, so the schema is damaged
		return &DamageError{Path: path, Err: err}
	case errors.Is(err, sqlite3.FULL) && !errors.Is(err, syscall.ENOSPC):
		err = fmt.Errorf("%w (%w)", syscall.ENOSPC, err)
	case errors.Is(err, sqlite3.BUSY):
		err = fmt.Errorf("another process has been writing for %v: %w", mostBusy, err)
	}
	return &FailedError{Path: path, Err: err}
}

func isTyped(err error) bool {
	return slices.ContainsFunc([]any{new(*MissingError), new(*ForeignError), new(*NetworkError), new(*DamageError), new(*FailedError), new(*LockedError)},
		func(target any) bool { return errors.As(err, target) })
}
