package answers

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ncruces/go-sqlite3"
)

// Error says why a store cannot be used. All errors of this package are an *Error, except those of callers and of other files.
type Error struct {
	Path string // of the store
	Kind Kind
	Err  error // the cause; nil if the Kind says all
}

// Kind is a kind of Error: errors.Is(err, Missing) reports whether an error is of this kind.
type Kind string

// Kinds of errors. A store that is Foreign, Newer or on a Network is not changed.
const (
	Missing Kind = "missing" // there is no store
	Foreign Kind = "foreign" // the file is not a store
	Newer   Kind = "newer"   // the store is of a later version of the program
	Network Kind = "network" // processes cannot share the store on its file system
	Locked  Kind = "locked"  // another process has locked the notes
	Damaged Kind = "damaged" // an answer may be wrong or missing: Recover copies the intact answers
	Failed  Kind = "failed"  // the disk refused to read or write, or the file was removed: open the store again
)

// texts are the messages, with the path and the cause.
var texts = map[Kind]string{
	Missing: "there is no store of answers at %[1]s",
	Foreign: "%[1]s is not a store of answers, and is not changed: choose another file",
	Newer:   "the store %[1]s is of a newer bulkcat, and is not changed: update bulkcat, or choose another file",
	Network: "the store %[1]s is on a network file system (%[2]v), where processes cannot share it: keep it in a local folder, or have one gateway (bulkcat serve --upstream) keep it for all",
	Locked:  "another service counts the usage of API keys in %[1]s: stop it, or choose another file",
	Damaged: "the store %[1]s is damaged: %[2]v; bulkcat store recover copies all answers that can be read to a new store",
	Failed:  "the store of answers %[1]s has failed: %[2]v; all answers before are kept",
}

func (k Kind) Error() string { return string(k) }

func (e *Error) Error() string { return fmt.Sprintf(texts[e.Kind], e.Path, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the Kind.
func (e *Error) Is(target error) bool { return target == e.Kind }

// OptionName returns "answers.Path", the option that chooses the store, if another store would do.
func (e *Error) OptionName() string {
	switch e.Kind {
	case Foreign, Newer, Network, Locked:
		return "answers.Path"
	}
	return ""
}

var (
	errDamaged = errors.New("the stored answer is damaged")
	errGone    = errors.New("a file was removed or replaced while the store was open")
	errClosed  = errors.New("the store is closed")
)

// explain converts an error of the engine to an *Error.
func explain(path string, err error) error {
	var own *Error
	var engine *sqlite3.Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.IOERR_DATA),
		errors.Is(err, sqlite3.IOERR_CORRUPTFS), errors.Is(err, sqlite3.IOERR_SHORT_READ), errors.Is(err, errDamaged),
		errors.Is(err, sqlite3.ERROR) && errors.As(err, &engine): // the statements are valid, so the schema is damaged
		return &Error{path, Damaged, err}
	case (errors.Is(err, sqlite3.FULL) || errors.Is(err, sqlite3.IOERR_SHMSIZE)) && !errors.Is(err, syscall.ENOSPC):
		err = fmt.Errorf("%w (%w)", syscall.ENOSPC, err)
	case errors.Is(err, sqlite3.BUSY):
		err = fmt.Errorf("another process has been writing for %v: %w", mostBusy, err)
	}
	return &Error{path, Failed, err}
}
