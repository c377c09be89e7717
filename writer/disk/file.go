package disk

import (
	"cmp"
	"os"
)

// File is a file that is written from its start. It starts writeback while it is written: without it, the sync at the end
// would take a tenth of the time of a run over stored answers. It also removes written pages from the page cache, so that a
// large output does not evict pages that other processes need.
type File struct {
	*os.File

	written, begun, released int64 // bytes
}

const (
	writebackStep = 4 << 20 // bytes per start of writeback
	writebackLag  = 8 << 20 // bytes that may be in writeback while writing continues
)

// NewFile creates a file, which must not exist. The user's umask restricts its permissions, 0666.
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
