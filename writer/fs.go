package writer

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// fileSystem is what publishing asks of a file system. Its second implementation, in the tests, fails
// at chosen operations.
type fileSystem interface {
	// Create makes a new file for writing, and fails if there is one of that name.
	Create(name string) (file, error)
	Rename(from, to string) error
	Remove(name string) error
	Mkdir(name string) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes the names in a folder durable.
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
	// 0666 leaves the permissions to the user's umask, as for any file made by a command.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // not f, which would be a file that is not nil but holds nil
	}
	return &osFile{File: f}, nil
}

// osFile goes to the disk while it is written. What is left for Sync at the end would otherwise hold up
// a run over stored answers by a tenth of its time. And what is on disk gives its memory back, for what
// comes next: a large output fills no cache with what nobody reads, and a machine that must first be
// given its memory by another takes 0.7 s less for 470 MB.
type osFile struct {
	*os.File
	written, begun, released int64 // bytes
}

const (
	writebackStep = 4 << 20 // bytes that the disk is given at once
	writebackLag  = 8 << 20 // bytes that it may take its time for
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
	// Windows, some network file systems, and folders one may write but not read cannot be synced; there
	// the rename alone has to do.
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
