package storage

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

const (
	// partSize is the size of a part of an upload in bytes, which is in memory while it is sent; S3 wants 5 MiB.
	partSize = 8 << 20
	// doubleEvery is the number of parts after which the part size doubles: an upload to S3 has at most 10,000 parts.
	doubleEvery = 1000
	// discardTimeout bounds the abort of an upload. The next run for the same output tries again.
	discardTimeout = 5 * time.Second
)

// draft is an object that is being written. An object of less than a part is one request at its publication, others are
// an upload in parts. Nothing is visible before: neither Discard nor the end of the process completes an upload.
type draft struct {
	ctx    context.Context // of Create, for the other calls
	bucket Bucket
	target Target
	upload Upload
	note   leftDraft // of an upload in parts

	buf   []byte
	size  int64 // bytes of all parts
	parts int   // that were sent, or may have been
}

// newDraft returns a draft that replaces the version old of an object, and no other.
func newDraft(ctx context.Context, b Bucket, url, key string, old Info) *draft {
	d := &draft{ctx: ctx, bucket: b}
	d.target = Target{Key: key, Old: old, Token: rand.Text(), Begun: func(id string) (err error) {
		d.note, err = noteDraft(url, id)
		return err
	}}
	d.upload = b.Write(d.target)
	return d
}

func (d *draft) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		more := min(len(p), d.nextSize()-len(d.buf))
		d.buf = append(d.buf, p[:more]...)
		n, p = n+more, p[more:]
		if len(d.buf) == d.nextSize() {
			err = d.sendPart()
		}
	}
	return n, err
}

// nextSize is the size of the next part.
func (d *draft) nextSize() int { return partSize << (d.parts / doubleEvery) }

func (d *draft) sendPart() error {
	d.parts++
	if err := d.upload.Part(d.ctx, d.buf); err != nil {
		return err
	}
	d.size += int64(len(d.buf))
	d.buf = d.buf[:0]
	if d.parts%doubleEvery != 0 {
		d.buf = slices.Grow(d.buf, d.nextSize())
	}
	return nil
}

func (d *draft) Publish(size int64) error {
	if written := d.size + int64(len(d.buf)); written != size {
		return fmt.Errorf("%d bytes were written, but the object has %d", size, written)
	}
	etag, err := d.complete()
	if stored := d.stored(size, etag); stored != nil {
		return cmp.Or(err, stored)
	}
	d.end()
	return nil
}

func (d *draft) complete() (etag string, err error) {
	if d.parts == 0 {
		return d.upload.Put(d.ctx, d.buf)
	}
	if len(d.buf) > 0 {
		if err := d.sendPart(); err != nil {
			return "", err
		}
	}
	return d.upload.Complete(d.ctx)
}

// stored returns nil if the object is this draft: its publication may have succeeded although the response was lost, and
// the next attempt then failed; or the storage may have acknowledged what it did not keep.
func (d *draft) stored(size int64, etag string) error {
	info, err := d.bucket.Stat(d.ctx, d.target.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return errNotStored
	}
	if err != nil && err != errNoVersion { // the token suffices
		return fmt.Errorf("the object cannot be checked after its publication: %w", err)
	}
	if ours := info.Token == d.target.Token || etag != "" && info.ETag == etag; !ours || info.Size != size {
		return errNotStored
	}
	return nil
}

// Discard aborts the upload, with a context of its own: that of the run may be done.
func (d *draft) Discard() error {
	if d.parts == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), discardTimeout)
	defer cancel()
	if err := d.upload.Abort(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.end()
	return nil
}

// end forgets the upload.
func (d *draft) end() {
	d.note.forget()
	d.buf, d.parts = nil, 0
}
