package disk

import (
	"cmp"
	"os"
)

// File is a file that is written sequentially. It begins writeback while it is written, which makes the sync at the end short.
// It also removes written pages from the page cache: a large output does not evict the pages of other processes.
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
