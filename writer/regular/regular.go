// Package regular opens only regular files. To open a named pipe could block for ever, and a device such as /dev/zero has no
// end.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Error says that a file is not a regular file.
type Error struct {
	Path string
	Is   string // the kind of file, such as "a pipe"
}

func (e *Error) Error() string { return fmt.Sprintf("%s is %s: name a regular file", e.Path, e.Is) }

// TooLargeError says that a file is larger than its reader accepts.
type TooLargeError struct {
	Path string
	Most int64 // bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has more than %d bytes, which is more than a file of this kind has: is it another file?", e.Path, e.Most)
}

// Open opens a regular file for reading. It follows links. The error is an *Error if the file is not regular.
func Open(path string) (*os.File, error) { return open(path, os.O_RDONLY|nonblock, os.Stat) }

// OpenOwn is os.OpenFile for a regular file of the program itself. It does not follow a link at path, which could lead to a
// file of someone else. The error is an *Error if the file is not regular.
func OpenOwn(path string, flag int) (*os.File, error) {
	return open(path, flag|nonblock|nofollow, os.Lstat)
}

// Read returns the content of a file of up to most bytes. The error comes from Open or from reading, or is a *TooLargeError.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return ReadAll(f, path, most)
}

// ReadAll returns the content of an open file of up to most bytes. The error comes from reading, or is a *TooLargeError for path.
func ReadAll(in io.Reader, path string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = &TooLargeError{path, most}
	}
	return text, err
}

// open checks the file before opening it, because opening some devices has effects, and again afterwards, because another file
// may have replaced the first.
func open(path string, flag int, look func(string) (fs.FileInfo, error)) (*os.File, error) {
	info, err := look(path)
	if err == nil {
		err = check(path, info)
	}
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0) {
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			e.Op = "open" // the caller has not asked for a stat
		}
		return nil, err
	}
	f, err := os.OpenFile(path, flag, 0o666)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat()
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

func check(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		return &Error{path, "a link"}
	case mode.IsDir():
		return &Error{path, "a folder"}
	case mode&fs.ModeNamedPipe != 0:
		return &Error{path, "a pipe"}
	case mode&fs.ModeSocket != 0:
		return &Error{path, "a socket"}
	}
	return &Error{path, "a device"}
}
