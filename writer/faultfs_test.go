package writer

import (
	"io/fs"
	"strings"
	"syscall"
)

// faultFS is the file system of the machine with an injected fault. It counts the operations, so that a test can make
// each of them fail.
type faultFS struct {
	osFS
	failAt int   // number of the operation that fails, from 1
	onward bool  // all later operations fail, as after a crash
	err    error // error of the operation

	// short makes the failing write write half; silent makes the write report no error.
	short, silent bool

	count  int
	log    []string // the operations, with their files
	failed string   // the first operation that failed
}

// step counts an operation, and returns its injected error.
func (f *faultFS) step(op, name string) error {
	f.count++
	f.log = append(f.log, op+" "+name)
	if f.count != f.failAt && !(f.onward && f.count > f.failAt) {
		return nil
	}
	if f.failed == "" {
		f.failed = op + " " + name
	}
	return &fs.PathError{Op: op, Path: name, Err: f.err}
}

// bestEffort reports whether the failed operation is optional: the removal of drafts of killed processes.
func (f *faultFS) bestEffort() bool {
	return strings.HasPrefix(f.failed, "readdir ") || strings.HasPrefix(f.failed, "remove ") && strings.Contains(f.failed, tempInfix)
}

func (f *faultFS) Create(name string) (file, error) {
	if err := f.step("create", name); err != nil {
		return nil, err
	}
	inner, err := f.osFS.Create(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{file: inner, fsys: f, name: name}, nil
}

func (f *faultFS) Rename(from, to string) error {
	if err := f.step("rename", to); err != nil {
		return err
	}
	return f.osFS.Rename(from, to)
}

func (f *faultFS) Remove(name string) error {
	if err := f.step("remove", name); err != nil {
		return err
	}
	return f.osFS.Remove(name)
}

func (f *faultFS) Mkdir(name string) error {
	if err := f.step("mkdir", name); err != nil {
		return err
	}
	return f.osFS.Mkdir(name)
}

func (f *faultFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.step("readdir", name); err != nil {
		return nil, err
	}
	return f.osFS.ReadDir(name)
}

func (f *faultFS) Stat(name string) (fs.FileInfo, error) {
	if err := f.step("stat", name); err != nil {
		return nil, err
	}
	return f.osFS.Stat(name)
}

func (f *faultFS) SyncDir(name string) error {
	return f.step("syncdir", name) // no test simulates a power failure
}

// faultFile is a file of a faultFS.
type faultFile struct {
	file
	fsys *faultFS
	name string
}

func (f *faultFile) Write(p []byte) (int, error) {
	err := f.fsys.step("write", f.name)
	switch {
	case err == nil:
		return f.file.Write(p)
	case f.fsys.silent:
		_, _ = f.file.Write(p[:len(p)/2])
		return len(p), nil
	case f.fsys.short:
		n, _ := f.file.Write(p[:len(p)/2])
		return n, err
	default:
		return 0, err
	}
}

func (f *faultFile) Sync() error {
	return f.fsys.step("sync", f.name)
}

func (f *faultFile) Stat() (fs.FileInfo, error) {
	if err := f.fsys.step("stat", f.name); err != nil {
		return nil, err
	}
	return f.file.Stat()
}

func (f *faultFile) Chmod(mode fs.FileMode) error {
	if err := f.fsys.step("chmod", f.name); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

// Close closes the file even if it fails, as the operating system does.
func (f *faultFile) Close() error {
	err := f.fsys.step("close", f.name)
	if closeErr := f.file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// faults are the ways in which an operation fails.
var faults = []struct {
	name  string
	fault faultFS
}{
	{"disk full", faultFS{err: syscall.ENOSPC}},
	{"disk full in the middle of a write", faultFS{err: syscall.ENOSPC, short: true}},
	{"a write that is lost", faultFS{err: syscall.EIO, silent: true}},
	{"no permission", faultFS{err: syscall.EACCES}},
	{"the disk is gone", faultFS{err: syscall.EIO, onward: true}},
}
