package writer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// PublishFile durably and atomically replaces the file at path with data, and keeps its permissions. The error is a
// *disk.Error.
func PublishFile(path string, data []byte) error {
	return PublishIn(context.Background(), local{}, path, data)
}

// PublishIn is PublishFile in a storage.
func PublishIn(ctx context.Context, storage Storage, path string, data []byte) error {
	return publish(ctx, storage, path, func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	})
}

// PublishFrom is PublishFile for the data that write writes to out. The error may also be that of write.
func PublishFrom(path string, write func(out io.Writer) error) error {
	return publish(context.Background(), local{}, path, write)
}

func publish(ctx context.Context, storage Storage, path string, write func(io.Writer) error) error {
	dir, base := Split(path)
	storage.RemoveDrafts(ctx, dir, func(name string) bool { return name == base })
	d, err := newDraft(ctx, storage, path)
	if err != nil {
		return err
	}
	if err = write(d); err == nil {
		err = d.publish(nil)
	}
	if err != nil {
		return errors.Join(err, d.discard())
	}
	return nil
}

// RemoveDrafts removes the drafts of path that killed processes have left. No other process may write path.
func RemoveDrafts(path string) {
	dir, base := Split(path)
	local{}.RemoveDrafts(context.Background(), dir, func(name string) bool { return name == base })
}

// orLocal returns storage, or the machine's file system if storage is nil.
func orLocal(storage Storage) Storage {
	if storage == nil {
		return local{}
	}
	return storage
}

// draft is a Draft with a buffer, a checksum and a sticky error.
type draft struct {
	path string
	file Draft
	buf  *bufio.Writer
	sum  hash.Hash // of the written bytes
	size int64     // number of written bytes
	err  error     // sticky error
}

// draftBuffer is the size of the buffer in bytes. A larger buffer is not measurably faster.
const draftBuffer = 128 << 10

// newDraft starts a draft of path. The error is a *disk.Error.
func newDraft(ctx context.Context, storage Storage, path string) (*draft, error) {
	file, err := storage.Create(ctx, path)
	if err != nil {
		return nil, disk.Failed("opening", path, err)
	}
	d := &draft{path: path, file: file, sum: sha256.New()}
	d.buf = bufio.NewWriterSize(unbuffered{d}, draftBuffer)
	return d, nil
}

func (d *draft) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.buf.Write(p)
	return n, d.fail("writing", err)
}

// publish writes the buffer and publishes the draft, unless the check fails. check may be nil, and is not called for objects.
// After an error, the caller discards the draft.
func (d *draft) publish(check CheckFunc) error {
	if d.err != nil {
		return d.err
	}
	if err := d.buf.Flush(); err != nil {
		return d.fail("writing", err)
	}
	if file, ok := d.file.(interface{ Name() string }); ok && check != nil {
		if d.err = check(file.Name()); d.err != nil {
			return d.err
		}
	}
	return d.fail("publishing", d.file.Publish(d.size))
}

// discard removes the draft. It does nothing after publish.
func (d *draft) discard() error { return disk.Failed("discarding", d.path, d.file.Discard()) }

// sha256 returns the checksum of the written bytes, in hex.
func (d *draft) sha256() string { return hex.EncodeToString(d.sum.Sum(nil)) }

// fail records the first error and returns it.
func (d *draft) fail(op string, err error) error {
	if d.err == nil {
		d.err = disk.Failed(op, d.path, err)
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
