package writer

import (
	"context"
	"io/fs"
	"strings"
	"syscall"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// faultFS is the file system of the machine with an injected fault. It counts the operations, so that a test can make
// each of them fail.
type faultFS struct {
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
	return strings.HasPrefix(f.failed, "readdir ") || strings.HasPrefix(f.failed, "remove ") && strings.Contains(f.failed, ".tmp-")
}

// files returns the file system with the fault.
func (f *faultFS) files() disk.Local { return disk.Local{Step: f.step} }

func (f *faultFS) Prepare(ctx context.Context, path string, folder bool) error {
	return f.files().Prepare(ctx, path, folder)
}
func (f *faultFS) ReadDir(ctx context.Context, dir string) ([]string, error) {
	return f.files().ReadDir(ctx, dir)
}
func (f *faultFS) Remove(ctx context.Context, path string) error { return f.files().Remove(ctx, path) }

func (f *faultFS) RemoveDrafts(ctx context.Context, dir string, match func(name string) bool) {
	f.files().RemoveDrafts(ctx, dir, match)
}

func (f *faultFS) Create(ctx context.Context, name string) (disk.Draft, error) {
	inner, err := f.files().Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &faultDraft{Draft: inner, fsys: f, name: name}, nil
}

// faultDraft is a draft of a faultFS.
type faultDraft struct {
	disk.Draft
	fsys *faultFS
	name string
}

func (f *faultDraft) Write(p []byte) (int, error) {
	err := f.fsys.step("write", f.name)
	switch {
	case err == nil:
		return f.Draft.Write(p)
	case f.fsys.silent:
		_, _ = f.Draft.Write(p[:len(p)/2])
		return len(p), nil
	case f.fsys.short:
		n, _ := f.Draft.Write(p[:len(p)/2])
		return n, err
	default:
		return 0, err
	}
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
