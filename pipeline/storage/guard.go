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

// limited bounds the time of a call that is repeated.
func limited[T any](ctx context.Context, call func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return repeated(ctx, call)
}

// repeated repeats a call whose error is a *TransientError.
func repeated[T any](ctx context.Context, call func(ctx context.Context) (T, error)) (T, error) {
	for n := 0; ; n++ {
		result, err := call(ctx)
		if _, transient := errors.AsType[*TransientError](err); !transient || n+1 == attempts {
			return result, err
		}
		bound := min(firstPause<<n, maxPause)
		if ended := pause(ctx, bound/2+rand.N(bound/2)); ended != nil {
			return result, fmt.Errorf("%w: %w", ended, err)
		}
	}
}

// done repeats a call without a result.
func done(ctx context.Context, call func(ctx context.Context) error) error {
	_, err := limited(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
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

// guarded is a bucket with time limits and repetitions, whose responses are compared with what was asked for: servers and
// the proxies before them ignore headers.
type guarded struct{ Bucket }

func (g guarded) Stat(ctx context.Context, key string) (Info, error) {
	info, err := limited(ctx, func(ctx context.Context) (Info, error) { return g.Bucket.Stat(ctx, key) })
	if err == nil && (info.Size < 0 || info.ETag == "" && info.Modified.IsZero()) {
		err = errNoVersion
	}
	return info, err
}

// Read returns ErrChanged if the response has another version, and a *RangeError if it has another range. The body is read
// after the call, with a time limit of its own.
func (g guarded) Read(ctx context.Context, key string, version Info, offset, length int64) (*Body, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	body, err := repeated(ctx, func(ctx context.Context) (*Body, error) { return g.Bucket.Read(ctx, key, version, offset, length) })
	if err != nil {
		cancel()
		return nil, err
	}
	body.ReadCloser = limitedBody{body.ReadCloser, time.AfterFunc(readTimeout, cancel), cancel}
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

func (g guarded) List(ctx context.Context, prefix, token string) (Page, error) {
	return limited(ctx, func(ctx context.Context) (Page, error) { return g.Bucket.List(ctx, prefix, token) })
}

func (g guarded) Write(t Target) Upload { return guardedUpload{g.Bucket.Write(t)} }

func (g guarded) Remove(ctx context.Context, key string) error {
	return done(ctx, func(ctx context.Context) error { return g.Bucket.Remove(ctx, key) })
}

func (g guarded) Abort(ctx context.Context, key, id string) error {
	return done(ctx, func(ctx context.Context) error { return g.Bucket.Abort(ctx, key, id) })
}

// guardedUpload is an upload to a guarded bucket.
type guardedUpload struct{ Upload }

func (u guardedUpload) Put(ctx context.Context, data []byte) (string, error) {
	return limited(ctx, func(ctx context.Context) (string, error) { return u.Upload.Put(ctx, data) })
}

func (u guardedUpload) Part(ctx context.Context, data []byte) error {
	return done(ctx, func(ctx context.Context) error { return u.Upload.Part(ctx, data) })
}

func (u guardedUpload) Complete(ctx context.Context) (string, error) {
	return limited(ctx, u.Upload.Complete)
}

func (u guardedUpload) Abort(ctx context.Context) error { return done(ctx, u.Upload.Abort) }

// wholeRange is the Range of a Body that has a whole object.
func wholeRange(size int64) string { return fmt.Sprintf("bytes 0-%d/%d", size-1, size) }
