package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

const (
	// attempts of a request: with the pauses in between, a minute or more of 503 SlowDown.
	attempts = 10
	// maxPause is the longest pause between two attempts.
	maxPause = 20 * time.Second
	// callTimeout bounds a call with its repetitions. Completing a large upload takes minutes.
	callTimeout = 5 * time.Minute
	// readTimeout bounds the time in which a body is read. What was read until then counts.
	readTimeout = time.Minute
)

// firstPause is the longest pause after the first attempt. It doubles with each attempt, up to maxPause. Tests shorten it.
var firstPause = 500 * time.Millisecond

// guard puts the repetitions, the time limits and the checks around a bucket.
func guard(b Bucket) Bucket { return checked{limited{wrapped{wrapped{b, repeat}, limit}}} }

// wrapped is a bucket whose calls are all made by do.
type wrapped struct {
	Bucket
	do func(ctx context.Context, call func(ctx context.Context) error) error
}

// repeat repeats a call whose error is a *TransientError.
func repeat(ctx context.Context, call func(ctx context.Context) error) error {
	for n := 0; ; n++ {
		err := call(ctx)
		if _, transient := errors.AsType[*TransientError](err); !transient || n+1 == attempts {
			return err
		}
		bound := min(firstPause<<n, maxPause)
		if ended := pause(ctx, bound/2+rand.N(bound/2)); ended != nil {
			return fmt.Errorf("%w: %w", ended, err)
		}
	}
}

// pause waits, unless the context ends, whose error it returns.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err()
}

// limit bounds the time of a call.
func limit(ctx context.Context, call func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return call(ctx)
}

func (a wrapped) Stat(ctx context.Context, key string) (info Info, err error) {
	err = a.do(ctx, func(ctx context.Context) error { info, err = a.Bucket.Stat(ctx, key); return err })
	return info, err
}

func (a wrapped) Read(ctx context.Context, key string, version Info, offset, length int64) (body *Body, err error) {
	err = a.do(ctx, func(ctx context.Context) error {
		body, err = a.Bucket.Read(ctx, key, version, offset, length)
		return err
	})
	return body, err
}

func (a wrapped) List(ctx context.Context, prefix, token string) (page Page, err error) {
	err = a.do(ctx, func(ctx context.Context) error { page, err = a.Bucket.List(ctx, prefix, token); return err })
	return page, err
}

func (a wrapped) Put(ctx context.Context, t Target, data []byte) (etag string, err error) {
	err = a.do(ctx, func(ctx context.Context) error { etag, err = a.Bucket.Put(ctx, t, data); return err })
	return etag, err
}

func (a wrapped) Begin(ctx context.Context, t Target) (upload Upload, err error) {
	err = a.do(ctx, func(ctx context.Context) error { upload, err = a.Bucket.Begin(ctx, t); return err })
	return wrappedUpload{upload, a}, err
}

func (a wrapped) Remove(ctx context.Context, key string) error {
	return a.do(ctx, func(ctx context.Context) error { return a.Bucket.Remove(ctx, key) })
}

func (a wrapped) Abort(ctx context.Context, key, id string) error {
	return a.do(ctx, func(ctx context.Context) error { return a.Bucket.Abort(ctx, key, id) })
}

// wrappedUpload is an upload of such a bucket.
type wrappedUpload struct {
	Upload
	around wrapped
}

func (u wrappedUpload) Part(ctx context.Context, data []byte) error {
	return u.around.do(ctx, func(ctx context.Context) error { return u.Upload.Part(ctx, data) })
}

func (u wrappedUpload) Complete(ctx context.Context) (etag string, err error) {
	err = u.around.do(ctx, func(ctx context.Context) error { etag, err = u.Upload.Complete(ctx); return err })
	return etag, err
}

func (u wrappedUpload) Abort(ctx context.Context) error { return u.around.do(ctx, u.Upload.Abort) }

// limited is a bucket with time limits whose bodies have one of their own: they are read after the call.
type limited struct{ wrapped }

func (l limited) Read(ctx context.Context, key string, version Info, offset, length int64) (*Body, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	body, err := l.Bucket.Read(ctx, key, version, offset, length)
	if err != nil {
		cancel()
		return nil, err
	}
	body.ReadCloser = limitedBody{body.ReadCloser, time.AfterFunc(readTimeout, cancel), cancel}
	return body, nil
}

type limitedBody struct {
	io.ReadCloser
	timer  *time.Timer
	cancel context.CancelFunc
}

func (b limitedBody) Close() error {
	defer b.cancel()
	b.timer.Stop()
	return b.ReadCloser.Close()
}

// checked is a bucket that compares responses with what was asked for: servers and the proxies before them ignore headers.
type checked struct{ Bucket }

func (c checked) Stat(ctx context.Context, key string) (Info, error) {
	info, err := c.Bucket.Stat(ctx, key)
	if err == nil && (info.Size < 0 || info.ETag == "" && info.Modified.IsZero()) {
		err = errNoVersion
	}
	return info, err
}

// Read returns ErrChanged if the response has another version, and a *RangeError if it has another range.
func (c checked) Read(ctx context.Context, key string, version Info, offset, length int64) (*Body, error) {
	body, err := c.Bucket.Read(ctx, key, version, offset, length)
	if err != nil {
		return nil, err
	}
	asked := fmt.Sprintf("bytes %d-%d/%d", offset, offset+length-1, version.Size)
	switch {
	case body.ETag != version.ETag, version.ETag == "" && !body.Modified.Equal(version.Modified):
		err = ErrChanged
	case body.Range != asked:
		err = &RangeError{asked, body.Range}
	default:
		return body, nil
	}
	return nil, errors.Join(err, body.Close())
}

// wholeRange is the Range of a Body that has a whole object.
func wholeRange(size int64) string { return fmt.Sprintf("bytes 0-%d/%d", size-1, size) }
