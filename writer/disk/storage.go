package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Storage is a place for outputs: the machine's file system, or an object store, whose paths are URLs.
type Storage interface {
	// Prepare checks that a file can be published at path. If folder is set, it creates the folder at path unless it exists.
	Prepare(ctx context.Context, path string, folder bool) error
	// RemoveDrafts removes the drafts of killed processes in dir whose output names match. The caller holds the output's
	// [Lock], so no other process of this machine has drafts. It ignores errors, because drafts do no harm.
	RemoveDrafts(ctx context.Context, dir string, match func(name string) bool)
	// Create starts a draft of the file at path. The context is valid until the draft is published.
	Create(ctx context.Context, path string) (Draft, error)
	// ReadDir returns the names of the files in a folder.
	ReadDir(ctx context.Context, dir string) ([]string, error)
	// Remove removes a file durably. For a missing file, the error is fs.ErrNotExist or nil.
	Remove(ctx context.Context, path string) error
}

// Draft is an unpublished file.
type Draft interface {
	io.Writer
	// Publish makes the file durable, and atomically replaces the file at its path. It fails if the draft does not have size
	// bytes, or if another program has written the file at the path since Create. After an error, the caller discards the draft.
	Publish(size int64) error
	// Discard removes the draft. After a successful Publish it does nothing.
	Discard() error
}

// IsURL reports whether path is the URL of an object.
func IsURL(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, "/\\.")
}

// Join returns the path of a file in a folder, which may be a URL.
func Join(dir, name string) string {
	if IsURL(dir) {
		return strings.TrimRight(dir, "/") + "/" + name
	}
	return filepath.Join(dir, name)
}

// Clean is filepath.Clean. It also accepts a URL.
func Clean(path string) string {
	if IsURL(path) {
		return strings.TrimRight(path, "/")
	}
	return filepath.Clean(path)
}

// Split returns the folder and the name of a path, which may be a URL.
func Split(path string) (dir, name string) {
	if IsURL(path) {
		path = strings.TrimRight(path, "/")
		at := strings.LastIndexByte(path, '/')
		return path[:at], path[at+1:]
	}
	return filepath.Dir(path), filepath.Base(path)
}

// ErrChanged says that a file is not the file that was at the path when the draft was created.
var ErrChanged = errors.New("the file has changed meanwhile: another program has written it")

// Local is the machine's file system.
type Local struct {
	Step func(op, name string) error // called before each operation, for tests that inject faults; nil for none
}

func (l Local) do(op, name string, operation func() error) error {
	if l.Step != nil {
		if err := l.Step(op, name); err != nil {
			return err
		}
	}
	return operation()
}

func (l Local) stat(name string) (info fs.FileInfo, err error) {
	err = l.do("stat", name, func() error { info, err = os.Stat(name); return err })
	return info, err
}

// Prepare implements [Storage].
func (l Local) Prepare(_ context.Context, path string, folder bool) error {
	info, err := l.stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case folder && !info.IsDir():
		return fmt.Errorf("it is a file, not a folder: %w", syscall.ENOTDIR)
	case folder:
		return nil
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		// A rename would replace the device or pipe with a file.
		return errors.New(`it is a device or a pipe: write to "-" and redirect standard output`)
	}
	dir := filepath.Dir(path)
	if err := l.checkFolder(dir); err != nil || !folder {
		return err
	}
	if err := l.do("mkdir", path, func() error { return os.Mkdir(path, 0o777) }); err != nil {
		return err
	}
	return l.syncDir(dir)
}

// checkFolder returns an error if dir does not exist.
func (l Local) checkFolder(dir string) error {
	info, err := l.stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder %s must be created first: %w", dir, fs.ErrNotExist)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder: %w", dir, syscall.ENOTDIR)
	}
	return nil
}

// RemoveDrafts implements [Storage].
func (l Local) RemoveDrafts(ctx context.Context, dir string, match func(name string) bool) {
	names, _ := l.ReadDir(ctx, dir)
	for _, name := range names {
		if output, ok := ParseTemp(name); ok && match(output) {
			_ = l.remove(filepath.Join(dir, name))
		}
	}
}

// ReadDir implements [Storage].
func (l Local) ReadDir(_ context.Context, dir string) (names []string, err error) {
	err = l.do("readdir", dir, func() error {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return err
	})
	return names, err
}

// Remove implements [Storage].
func (l Local) Remove(_ context.Context, path string) error {
	if err := l.remove(path); err != nil {
		return err
	}
	return l.syncDir(filepath.Dir(path))
}

func (l Local) remove(name string) error {
	return l.do("remove", name, func() error { return os.Remove(name) })
}

// syncDir makes the names of the files in a folder durable.
func (l Local) syncDir(dir string) error {
	return l.do("syncdir", dir, func() error { return SyncDir(dir) })
}

// Create starts a draft with the name of [TempName], on the file system of path, because no rename between two file systems is
// atomic. The draft has the permissions of an existing file at path.
func (l Local) Create(_ context.Context, path string) (Draft, error) {
	d := &localDraft{local: l, path: path, temp: TempName(path)}
	err := l.do("create", d.temp, func() (err error) {
		d.file, err = newFile(d.temp)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := d.keepMode(); err != nil {
		return nil, errors.Join(Cause(err), d.Discard())
	}
	return d, nil
}

// localDraft is a draft on the machine's file system.
type localDraft struct {
	local Local
	path  string      // path after Publish
	temp  string      // temporary path; "" after Publish and Discard
	file  *os.File    // nil after it is closed
	old   fs.FileInfo // of the file at path when the draft was created; nil if there was none
}

// keepMode gives the draft the permissions of an existing file at its path.
func (d *localDraft) keepMode() error {
	old, err := d.local.stat(d.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !old.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	d.old = old
	if info, err := d.stat(); err != nil || info.Mode() == old.Mode() {
		return err
	}
	return d.local.do("chmod", d.temp, func() error { return d.file.Chmod(old.Mode().Perm()) })
}

func (d *localDraft) stat() (info fs.FileInfo, err error) {
	err = d.local.do("stat", d.temp, func() error { info, err = d.file.Stat(); return err })
	return info, err
}

// Name returns the path of the draft.
func (d *localDraft) Name() string { return d.temp }

func (d *localDraft) Write(p []byte) (int, error) { return d.file.Write(p) }

// Publish syncs the file and renames it to its path. If only the sync of the folder fails, the file is at its path, but a power
// failure may undo the rename.
func (d *localDraft) Publish(size int64) error {
	if err := d.local.do("sync", d.temp, d.file.Sync); err != nil {
		return err
	}
	info, err := d.stat()
	if err != nil {
		return err
	}
	if info.Size() != size {
		return fmt.Errorf("%d bytes were written, but the file has %d", size, info.Size())
	}
	if err := d.close(); err != nil { // some network file systems report a full disk only here
		return err
	}
	switch present, err := d.local.stat(d.path); {
	case errors.Is(err, fs.ErrNotExist): // removed, or still missing: nothing is lost
	case err != nil:
		return err
	case d.old == nil && present.Mode().IsRegular(),
		d.old != nil && (!os.SameFile(d.old, present) || d.old.Size() != present.Size() || !d.old.ModTime().Equal(present.ModTime())):
		return ErrChanged
	}
	if err := d.local.do("rename", d.path, func() error { return os.Rename(d.temp, d.path) }); err != nil {
		return err
	}
	d.temp = ""
	return d.local.syncDir(filepath.Dir(d.path))
}

// close closes the file, also if Step injects an error, as the operating system does.
func (d *localDraft) close() error {
	f := d.file
	d.file = nil
	return cmp.Or(d.local.do("close", d.temp, func() error { return nil }), f.Close())
}

func (d *localDraft) Discard() error {
	var errs []error
	if d.file != nil {
		errs = append(errs, Cause(d.close()))
	}
	if d.temp != "" {
		errs = append(errs, Cause(d.local.remove(d.temp)))
		d.temp = ""
	}
	return errors.Join(errs...)
}
