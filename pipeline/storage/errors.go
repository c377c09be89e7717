package storage

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrChanged says that an object has another version than expected.
var ErrChanged = errors.New("the object has changed meanwhile: another program has written it")

// TransientError says that a request failed for a reason that passes, so that the same request may succeed later.
type TransientError struct{ Err error }

func (e *TransientError) Error() string { return e.Err.Error() }

func (e *TransientError) Unwrap() error { return e.Err }

// errNoVersion is the error of a response to HEAD without which no read can be checked.
var errNoVersion = errors.New("the storage, or a proxy before it, names no size or no version of the object (HEAD without Content-Length, or without both ETag and Last-Modified)")

// errNotStored is the error of a storage that has acknowledged an object, but has another one, or none.
var errNotStored = errors.New("the storage has acknowledged the object, but does not have it as it was sent")

// RangeError says that a response has other bytes of an object than the request wanted.
type RangeError struct {
	Asked, Got string // as in the header Content-Range; Got is empty if the response does not say
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("asked for %s, but the response has %q: the storage, or a proxy before it, ignores the header Range, or names wrong sizes", e.Asked, e.Got)
}

// CutError says that the bodies of all responses to a read ended early. It is never io.EOF.
type CutError struct {
	Offset int64 // of the first byte that is missing
	Err    error // of the last body
}

func (e *CutError) Error() string {
	return fmt.Sprintf("the connection to the storage was cut at byte %d in each of %d attempts: %v", e.Offset, maxCuts, e.Err)
}

func (e *CutError) Unwrap() error { return e.Err }

// ListError says that a list of keys cannot be right.
type ListError struct {
	Found string // in the list
}

func (e *ListError) Error() string {
	return "the storage, or a proxy before it, lists wrongly: the list has " + e.Found
}

// failed names the object of an error, as package os names the file.
func failed(op, url string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: url, Err: err}
}
