package writer

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// fileSystem is the file system on which outputs are published. Tests inject faults into it.
type fileSystem interface {
	// Create creates a file for writing. It fails if the file exists.
	Create(name string) (file, error)
	Rename(from, to string) error
	Remove(name string) error
	Mkdir(name string) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes the names of the files in a folder durable.
	SyncDir(name string) error
}

// file is an open file of a fileSystem.
type file interface {
	io.WriteCloser
	Sync() error
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
}

// osFS is the file system of the machine.
type osFS struct{}

func (osFS) Create(name string) (file, error) {
	// The user's umask restricts 0666.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // f would be a non-nil interface with a nil pointer
	}
	return &osFile{File: f}, nil
}

// osFile starts writeback while the file is written: without it, Sync at the end would take a tenth of the time of a
// run over stored answers. It also removes written pages from the page cache, so that a large output does not evict
// pages that other processes need.
type osFile struct {
	*os.File
	written, begun, released int64 // bytes
}

const (
	writebackStep = 4 << 20 // bytes per start of writeback
	writebackLag  = 8 << 20 // bytes that may be in writeback while writing continues
)

func (f *osFile) Write(p []byte) (int, error) {
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

func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) Mkdir(name string) error                    { return os.Mkdir(name, 0o777) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }

func (osFS) SyncDir(name string) error {
	dir, err := os.Open(name)
	if err == nil {
		err = cmp.Or(dir.Sync(), dir.Close())
	}
	// Folders cannot be synced on Windows, on some network file systems, and without permission to read. The
	// rename alone must do there.
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
