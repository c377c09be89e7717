package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Restored says what Restore has restored.
type Restored struct {
	Files   int
	Bytes   int64
	Host    string    // on which the copy was made
	Updated time.Time // of the copy
}

// Restore makes the store in dir from its copy, and logs how much that was. It does nothing, and returns nil, if there
// is a store, or no copy. The errors are *answers.ForeignError unless dir is empty, *ListError, *DamageError, and those of
// the place and the disk.
func Restore(ctx context.Context, from, dir string, log *slog.Logger) (*Restored, error) {
	p, err := openPlace(ctx, from)
	if err != nil {
		return nil, err
	}
	if answers.IsStore(dir) {
		return nil, nil
	}
	l, err := p.readList()
	if err != nil || l == nil {
		return nil, err
	}
	if err := answers.CheckFolder(dir); err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil { // an empty folder elsewhere, by way of a link
		dir = real
	}
	dir = filepath.Clean(dir)
	parent, name := filepath.Split(dir)
	draft := filepath.Join(parent, "."+name+".restored")
	if err := os.MkdirAll(filepath.Clean(parent), 0o777); err != nil {
		return nil, err
	}
	lock, err := disk.WaitLock(draft)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if answers.IsStore(dir) { // another process has restored it meanwhile
		return nil, nil
	}
	r, err := p.downloadLatest(l, draft)
	if err == nil {
		err = moveInto(dir, draft)
	}
	if err != nil {
		return nil, fmt.Errorf("restore the store %s: %w", dir, errors.Join(err, answers.RemoveFolder(draft)))
	}
	log.Info("the store is restored from its copy", "store", dir, "copy", p.dir,
		"files", r.Files, "bytes", r.Bytes, "copied_at", r.Updated, "host", r.Host)
	return r, nil
}

// downloadLatest downloads again if the list was replaced meanwhile, whose objects are then removed.
func (p place) downloadLatest(l *list, dir string) (*Restored, error) {
	for {
		r, err := p.download(l, dir)
		if _, damaged := errors.AsType[*DamageError](err); !damaged {
			return r, err
		}
		latest, listErr := p.readList()
		if listErr != nil || latest == nil || latest.Updated.Equal(l.Updated) {
			return nil, errors.Join(err, listErr)
		}
		l = latest
	}
}

// download makes the store of a list in a new folder.
func (p place) download(l *list, dir string) (*Restored, error) {
	if err := answers.RemoveFolder(dir); err != nil { // of a process that was killed
		return nil, err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	r := &Restored{Files: len(l.Files), Host: l.Host, Updated: l.Updated}
	for _, f := range l.Files {
		if err := p.downloadFile(f, filepath.Join(dir, f.Name)); err != nil {
			return nil, err
		}
		r.Bytes += sizeOf(f.Objects)
	}
	id := identity{Store: l.Store, Owners: []string{l.Owner}, Restored: true}
	return r, id.write(dir) // last, since it also syncs the folder
}

func (p place) downloadFile(f file, path string) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	for _, o := range f.Objects {
		if err := p.downloadObject(o, out); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return errors.Join(out.Sync(), out.Close())
}

func (p place) downloadObject(o object, out io.Writer) error {
	in, err := p.open(o.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return &DamageError{p.path(o.Name), errors.New("it is missing")}
	}
	if err != nil {
		return err
	}
	defer in.Close() // only read from
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), in)
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", p.path(o.Name), err)
	case n != o.Size:
		return &DamageError{p.path(o.Name), fmt.Errorf("it has %d bytes, not %d", n, o.Size)}
	case hex.EncodeToString(sum.Sum(nil)) != o.SHA256:
		return &DamageError{p.path(o.Name), errors.New("its SHA-256 is another")}
	}
	return nil
}

// moveInto gives a whole store its name. What is there must be an empty folder: Rmdir removes nothing else.
func moveInto(dir, draft string) error {
	if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "replace", Path: dir, Err: err}
	}
	return os.Rename(draft, dir)
}
