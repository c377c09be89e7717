package writer

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// PublishFile writes data to path whole or not at all: an earlier file there is replaced in one step, and
// keeps its permissions. The error is an *Error.
func PublishFile(path string, data []byte) error {
	return publishFile(osFS{}, path, data)
}

func publishFile(fsys fileSystem, path string, data []byte) error {
	removeDrafts(fsys, filepath.Dir(path), func(name string) bool { return name == filepath.Base(path) })
	d, err := newDraft(fsys, path)
	if err != nil {
		return err
	}
	if _, err := d.Write(data); err != nil {
		return errors.Join(err, d.discard())
	}
	if err := d.publish(); err != nil {
		return errors.Join(err, d.discard())
	}
	return nil
}

// draft is a file that is not published yet: it lies under a temporary name in the folder it is meant
// for, because only a rename within a folder is one step on every file system.
type draft struct {
	fsys fileSystem
	path string // what it will be
	temp string // where it lies; "" once it is published or discarded
	file file   // nil once it is closed
	buf  *bufio.Writer
	sum  hash.Hash // of the bytes written so far
	size int64     // their number
	err  error     // the first failure, which every later call returns
}

// draftBuffer keeps the number of system calls low; more does not make it measurably faster.
const draftBuffer = 128 << 10

// newDraft starts a draft of path, with the permissions of the file that it is to replace. The error is
// an *Error.
func newDraft(fsys fileSystem, path string) (*draft, error) {
	temp := tempName(path)
	f, err := fsys.Create(temp)
	if err != nil {
		return nil, failed("opening", path, err)
	}
	d := &draft{fsys: fsys, path: path, temp: temp, file: f, sum: sha256.New()}
	d.buf = bufio.NewWriterSize(unbuffered{d}, draftBuffer)
	if err := d.keepMode(); err != nil {
		return nil, errors.Join(d.fail("opening", err), d.discard())
	}
	return d, nil
}

// keepMode gives the draft, which is empty, the permissions of the file that it is to replace.
func (d *draft) keepMode() error {
	old, err := d.fsys.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !old.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	if info, err := d.file.Stat(); err != nil || info.Mode() == old.Mode() {
		return err
	}
	return d.file.Chmod(old.Mode().Perm())
}

func (d *draft) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.buf.Write(p)
	return n, d.fail("writing", err)
}

// publish gives the draft its name, once all of it is known to be on disk. After an error the draft is
// still there, to be discarded; unless the folder could not be synced, when the file is whole and in
// place but a power failure might undo that.
func (d *draft) publish() error {
	if d.err != nil {
		return d.err
	}
	if err := d.finish(); err != nil {
		return err
	}
	if err := d.fsys.Rename(d.temp, d.path); err != nil {
		return d.fail("publishing", err)
	}
	d.temp = ""
	return d.fail("publishing", d.fsys.SyncDir(filepath.Dir(d.path)))
}

// finish writes what is buffered, makes sure of it, and closes the file.
func (d *draft) finish() error {
	if err := d.buf.Flush(); err != nil {
		return d.fail("writing", err)
	}
	if err := d.file.Sync(); err != nil {
		return d.fail("writing", err)
	}
	info, err := d.file.Stat()
	if err != nil {
		return d.fail("publishing", err)
	}
	if info.Size() != d.size {
		return d.fail("publishing", fmt.Errorf("%d bytes were written, but the file has %d", d.size, info.Size()))
	}
	f := d.file
	d.file = nil
	return d.fail("writing", f.Close()) // some network file systems report a full disk only here
}

// discard removes the draft. It does nothing to a published one.
func (d *draft) discard() error {
	var errs []error
	if d.file != nil {
		errs = append(errs, failed("discarding", d.path, d.file.Close()))
		d.file = nil
	}
	if d.temp != "" {
		errs = append(errs, failed("discarding", d.path, d.fsys.Remove(d.temp)))
		d.temp = ""
	}
	return errors.Join(errs...)
}

// sha256 is the checksum of what was written, in hexadecimal.
func (d *draft) sha256() string { return hex.EncodeToString(d.sum.Sum(nil)) }

// fail keeps the first failure.
func (d *draft) fail(op string, err error) error {
	if d.err == nil {
		d.err = failed(op, d.path, err)
	}
	return d.err
}

// unbuffered is a draft below its buffer: what it writes is counted and summed on the way.
type unbuffered struct{ *draft }

func (u unbuffered) Write(p []byte) (int, error) {
	n, err := u.file.Write(p)
	if n > 0 {
		u.size += int64(n)
		u.sum.Write(p[:n])
	}
	return n, err
}

// tempMark separates the name of a target from the process that has made the temporary file.
const tempMark = ".tmp-"

// tempName is a new name ".NAME.tmp-PID-RANDOM" beside path. The leading dot hides it from globs and
// from engines that read folders.
func tempName(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, fmt.Sprintf(".%s%s%d-%016x", name, tempMark, os.Getpid(), rand.Uint64()))
}

// parseTemp gives the name of the target in a name made by tempName.
func parseTemp(temp string) (name string, ok bool) {
	i := strings.LastIndex(temp, tempMark)
	if i < 1 || temp[0] != '.' {
		return "", false
	}
	owner, random, _ := strings.Cut(temp[i+len(tempMark):], "-")
	pid, err := strconv.Atoi(owner)
	return temp[1:i], err == nil && pid > 0 && len(random) == 16
}

// checkFolder makes sure that dir, the folder meant to hold path, is there.
func checkFolder(fsys fileSystem, path, dir string) error {
	info, err := fsys.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failed("opening", path, fmt.Errorf("the folder %s must be created first: %w", dir, fs.ErrNotExist))
	case err != nil:
		return failed("opening", path, err)
	case !info.IsDir():
		return failed("opening", path, fmt.Errorf("%s is not a folder: %w", dir, syscall.ENOTDIR))
	}
	return nil
}
