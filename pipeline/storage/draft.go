package storage

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// draft is an object that Put writes in a goroutine, which reads the data from a pipe. Neither Discard nor the end of the process
// publishes the object.
type draft struct {
	ctx    context.Context // of Create, for the check of Publish
	bucket Bucket
	key    string
	token  string
	size   int64 // bytes that were written
	data   *io.PipeWriter

	put  context.Context // of Put
	stop context.CancelCauseFunc
	done chan struct{} // closed when Put has returned err
	err  error
}

// newDraft returns a draft that replaces only the version old of an object.
func newDraft(ctx context.Context, s Bucket, key string, old Info) *draft {
	d := &draft{ctx: ctx, bucket: s, key: key, token: rand.Text(), done: make(chan struct{})}
	d.put, d.stop = context.WithCancelCause(ctx)
	r, w := io.Pipe()
	d.data = w
	context.AfterFunc(d.put, func() { r.CloseWithError(context.Cause(d.put)) })
	go func() {
		defer close(d.done)
		if d.err = s.Put(d.put, key, r, old, d.token); d.err != nil && d.put.Err() != nil {
			d.err = fmt.Errorf("%w: %w", context.Cause(d.put), d.err)
		}
		r.CloseWithError(cmp.Or(d.err, fs.ErrClosed))
		d.stop(nil)
	}()
	return d
}

// limit ends Put after the duration most, unless unlimit is called before.
func (d *draft) limit(most time.Duration) (unlimit func() bool) {
	return time.AfterFunc(most, func() { d.stop(context.DeadlineExceeded) }).Stop
}

func (d *draft) Write(p []byte) (int, error) {
	defer d.limit(callTimeout)()
	n, err := d.data.Write(p)
	d.size += int64(n)
	return n, err
}

func (d *draft) Publish(size int64) error {
	if d.size != size {
		return fmt.Errorf("%d bytes were written, but the object has %d", size, d.size)
	}
	defer d.limit(callTimeout)()
	_ = d.data.Close() // always nil
	<-d.done
	if err := d.stored(size); err != nil {
		return cmp.Or(d.err, err)
	}
	return nil
}

// stored returns nil if the object is this draft. The result of Put does not decide: Put may have failed because its first attempt
// succeeded but the response was lost, or the storage may have acknowledged an object that it did not keep.
func (d *draft) stored(size int64) error {
	info, err := d.bucket.Stat(d.ctx, d.key)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (info.Token != d.token || info.Size != size):
		return errNotStored
	case err != nil:
		return fmt.Errorf("the object cannot be checked after its publication: %w", err)
	}
	return nil
}

// Discard ends Put, which removes the data that was sent.
func (d *draft) Discard() error {
	defer d.limit(discardTimeout)()
	_ = d.data.CloseWithError(errDiscarded) // always nil
	<-d.done
	if errors.Is(d.err, errLeft) {
		return d.err
	}
	return nil
}
