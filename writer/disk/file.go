package disk

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is written sequentially. File begins writeback during writing, which makes the sync at the end short. It
// also removes written pages from the page cache: a large output does not evict the pages of other processes.
type File struct {
	*os.File

	written, begun, released int64 // bytes
}

const (
	writebackStep = 4 << 20 // bytes after which writeback begins
	writebackLag  = 8 << 20 // bytes that may be in writeback while writing continues
)

// NewFile creates a file, which must not exist, with the permissions 0666 before umask.
func NewFile(name string) (*File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &File{File: file}, nil
}

// Write writes p at the end of the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.written += int64(n)
	if f.written-f.begun < writebackStep {
		return n, err
	}
	err = cmp.Or(err, beginWriteback(f.File, f.begun, f.written-f.begun))
	f.begun = f.written
	behind := f.begun - writebackLag
	if err != nil || behind <= f.released {
		return n, err
	}
	err = release(f.File, f.released, behind-f.released)
	f.released = behind
	return n, err
}

// ReplaceFile atomically replaces the file at path by data. It does not sync, and does not remove the temporary files of killed
// processes (see [ParseTemp]). The error is an *Error.
func ReplaceFile(path string, data []byte) error {
	file, err := NewFile(TempName(path))
	if err != nil {
		return Failed("opening", path, err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // a leftover file does no harm
	}
	return Failed("writing", path, err)
}

// CreateFile atomically creates the file at path with data, unless a file exists. It reports whether it has created the file. Of
// concurrent processes, only one creates the file. The error is an *Error.
func CreateFile(path string, data []byte) (created bool, err error) {
	file, err := NewFile(TempName(path))
	if err != nil {
		return false, Failed("opening", path, err)
	}
	defer func() { err = errors.Join(err, Failed("discarding", path, os.Remove(file.Name()))) }()
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return false, Failed("writing", path, err)
	}
	switch err := os.Link(file.Name(), path); { // unlike a rename, a link replaces no file
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, Failed("publishing", path, err)
	}
	return true, Failed("publishing", path, SyncDir(filepath.Dir(path)))
}
