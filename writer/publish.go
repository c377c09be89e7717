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

// PublishFile writes data to path whole or not at all. It atomically replaces an earlier file and keeps its
// permissions. The error is an *Error.
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

// draft is an unpublished file. It has a temporary name in the folder of its path, because a rename is atomic on every
// file system only within a folder.
type draft struct {
	fsys fileSystem
	path string // name after publish
	temp string // temporary name; "" after publish and discard
	file file   // nil after it is closed
	buf  *bufio.Writer
	sum  hash.Hash // of the written bytes
	size int64     // number of written bytes
	err  error     // sticky error
}

// draftBuffer is the size of the buffer in bytes. A larger buffer is not measurably faster.
const draftBuffer = 128 << 10

// newDraft starts a draft of path, with the permissions of an existing file at path. The error is an *Error.
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

// keepMode sets the permissions of the draft to those of an existing file at its path.
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

// publish syncs the draft and renames it to its path. After an error the caller discards the draft. If only the sync
// of the folder fails, the file is whole and in place, but a power failure may undo the rename.
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

// finish writes the buffer, syncs the file, checks its size, and closes it.
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

// discard removes the draft. It does nothing after publish.
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

// sha256 returns the checksum of the written bytes, in hex.
func (d *draft) sha256() string { return hex.EncodeToString(d.sum.Sum(nil)) }

// fail records the first error and returns it.
func (d *draft) fail(op string, err error) error {
	if d.err == nil {
		d.err = failed(op, d.path, err)
	}
	return d.err
}

// unbuffered is the file under the buffer of a draft. It counts and hashes the written bytes.
type unbuffered struct{ *draft }

func (u unbuffered) Write(p []byte) (int, error) {
	n, err := u.file.Write(p)
	if n > 0 {
		u.size += int64(n)
		u.sum.Write(p[:n])
	}
	return n, err
}

// tempInfix separates the name of the output from the PID in a temporary name.
const tempInfix = ".tmp-"

// tempName returns a new name ".NAME.tmp-PID-RANDOM" in the folder of path. The leading dot hides the file from globs
// and from engines that read folders.
func tempName(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, fmt.Sprintf(".%s%s%d-%016x", name, tempInfix, os.Getpid(), rand.Uint64()))
}

// parseTemp returns the name of the output of a result of tempName.
func parseTemp(temp string) (name string, ok bool) {
	i := strings.LastIndex(temp, tempInfix)
	if i < 1 || temp[0] != '.' {
		return "", false
	}
	owner, random, _ := strings.Cut(temp[i+len(tempInfix):], "-")
	pid, err := strconv.Atoi(owner)
	return temp[1:i], err == nil && pid > 0 && len(random) == 16
}

// checkFolder returns an *Error if dir, the folder of path, does not exist.
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
