package disk

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// PublishFile durably and atomically replaces the file at path with data, and keeps its permissions. The error is an *Error.
func PublishFile(path string, data []byte) error {
	return PublishIn(context.Background(), Local{}, path, data)
}

// PublishIn is PublishFile in a storage.
func PublishIn(ctx context.Context, storage Storage, path string, data []byte) error {
	return publish(ctx, storage, path, func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	})
}

// PublishFrom is PublishFile for the data that write writes to out. The error may also come from write.
func PublishFrom(path string, write func(out io.Writer) error) error {
	return publish(context.Background(), Local{}, path, write)
}

func publish(ctx context.Context, storage Storage, path string, write func(io.Writer) error) error {
	RemoveDrafts(ctx, storage, path)
	d, err := NewOutput(ctx, storage, path)
	if err != nil {
		return err
	}
	if err = write(d); err == nil {
		err = d.Publish(nil, nil)
	}
	if err != nil {
		return errors.Join(err, d.Discard())
	}
	return nil
}

// RemoveDrafts removes the drafts of path that killed processes have left. No other process may write path.
func RemoveDrafts(ctx context.Context, storage Storage, path string) {
	dir, base := Split(path)
	storage.RemoveDrafts(ctx, dir, func(name string) bool { return name == base })
}

// Output is a Draft with a buffer and a checksum. An error of Write is sticky.
type Output struct {
	path string
	file Draft
	buf  *bufio.Writer
	sum  hash.Hash // of the written bytes
	size int64     // number of written bytes
}

// draftBuffer is the size of the buffer in bytes. A larger buffer is not measurably faster.
const draftBuffer = 128 << 10

// NewOutput starts a draft of path. The error is an *Error.
func NewOutput(ctx context.Context, storage Storage, path string) (*Output, error) {
	file, err := storage.Create(ctx, path)
	if err != nil {
		return nil, Failed("opening", path, err)
	}
	d := &Output{path: path, file: file, sum: sha256.New()}
	d.buf = bufio.NewWriterSize(unbuffered{d}, draftBuffer)
	return d, nil
}

// Write appends p to the draft.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.buf.Write(p)
	return n, Failed("writing", o.path, err)
}

// Publish writes the buffer and publishes the draft, unless the check of the draft fails. check is not called for objects.
// begin is called directly before the file at the path is replaced. Both may be nil. After an error, the caller discards the
// draft.
func (o *Output) Publish(check func(draft string) error, begin func() error) error {
	if err := o.buf.Flush(); err != nil {
		return Failed("writing", o.path, err)
	}
	if file, ok := o.file.(interface{ Name() string }); ok && check != nil {
		if err := check(file.Name()); err != nil {
			return err
		}
	}
	if begin != nil {
		if err := begin(); err != nil {
			return err
		}
	}
	return Failed("publishing", o.path, o.file.Publish(o.size))
}

// Discard removes the draft. It does nothing after Publish.
func (o *Output) Discard() error { return Failed("discarding", o.path, o.file.Discard()) }

// Size returns the number of written bytes, without the bytes in the buffer.
func (o *Output) Size() int64 { return o.size }

// SHA256 returns the checksum of the bytes that Size counts, in hex.
func (o *Output) SHA256() string { return hex.EncodeToString(o.sum.Sum(nil)) }

// unbuffered is the file under the buffer of a draft. It counts and hashes the written bytes.
type unbuffered struct{ *Output }

func (u unbuffered) Write(p []byte) (int, error) {
	n, err := u.file.Write(p)
	if n > 0 {
		u.size += int64(n)
		u.sum.Write(p[:n])
	}
	return n, err
}
