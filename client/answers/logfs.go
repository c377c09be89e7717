package answers

import (
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logExt ends the name of a log.
const logExt = ".log"

// logFS has the store fail once its log can't be written. The database itself would panic
// then, without a lock that it gives up once more on its way out, and that ends the process.
// So who wanted to write waits for ever; guard releases those who wait for it.
type logFS struct {
	vfs.FS
	fate *fate
}

// Create creates a file.
func (f *logFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, category)
	return f.log(name, file, err)
}

// ReuseForWrite makes a file out of an older one.
func (f *logFS) ReuseForWrite(older, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(older, name, category)
	return f.log(name, file, err)
}

// OpenDir opens a folder, which is synced when a log was created in it.
func (f *logFS) OpenDir(name string) (vfs.File, error) {
	dir, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &logFile{dir, f.fate}, nil
}

func (f *logFS) log(name string, file vfs.File, err error) (vfs.File, error) {
	switch {
	case filepath.Ext(name) != logExt:
		return file, err
	case err != nil:
		f.fate.wait(err)
	}
	return &logFile{file, f.fate}, nil
}

// logFile is a log, or the folder of logs.
type logFile struct {
	vfs.File
	fate *fate
}

// Write writes to the end.
func (f *logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.must(err)
}

// Sync makes durable what was written.
func (f *logFile) Sync() error { return f.must(f.File.Sync()) }

// SyncData makes the contents durable.
func (f *logFile) SyncData() error { return f.must(f.File.SyncData()) }

// SyncTo has the system write the first bytes.
func (f *logFile) SyncTo(length int64) (fullSync bool, err error) {
	fullSync, err = f.File.SyncTo(length)
	return fullSync, f.must(err)
}

// Close closes the file.
func (f *logFile) Close() error { return f.must(f.File.Close()) }

func (f *logFile) must(err error) error {
	if err != nil {
		f.fate.wait(err)
	}
	return nil
}
