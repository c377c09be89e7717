package storage_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
)

// A request is repeated if its error passes, and no other.
func TestRepetitions(t *testing.T) {
	busy, refused := errors.New("busy"), errors.New("refused")
	for name, c := range map[string]struct {
		failures int // of the first requests
		err      error
		want     error
		requests int
	}{
		"none":                  {0, nil, nil, 1},
		"one":                   {1, &storage.TransientError{Err: busy}, nil, 2},
		"all but the last":      {storage.Attempts - 1, &storage.TransientError{Err: busy}, nil, storage.Attempts},
		"too many":              {storage.Attempts, &storage.TransientError{Err: busy}, busy, storage.Attempts},
		"an error of the other": {1, refused, refused, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket, folder := storagetest.New()
				requests := 0
				bucket.Disturb(func(op, _ string) error {
					if op != "list" {
						return nil
					}
					if requests++; requests <= c.failures {
						return c.err
					}
					return nil
				})
				if _, err := storage.ReadDir(t.Context(), folder); !errors.Is(err, c.want) || requests != c.requests {
					t.Errorf("got %v after %d requests, want %v after %d", err, requests, c.want, c.requests)
				}
			})
		})
	}
}

// A pause between two attempts ends with the context.
func TestInterruptedRepetitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket, folder := storagetest.New()
		ctx, cancel := context.WithCancel(t.Context())
		bucket.Disturb(func(string, string) error {
			cancel()
			return &storage.TransientError{Err: errors.New("busy")}
		})
		began := time.Now()
		if _, err := storage.ReadDir(ctx, folder); !errors.Is(err, context.Canceled) || time.Since(began) > 0 {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// A storage that does not answer does not hold a call for ever.
func TestTimeLimits(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, url string) error{
		"stat":    func(ctx context.Context, url string) error { return second(storage.Exists(ctx, url)) },
		"read":    func(ctx context.Context, url string) error { return second(storage.ReadFile(ctx, url)) },
		"list":    func(ctx context.Context, url string) error { return second(storage.ReadDir(ctx, url)) },
		"publish": func(ctx context.Context, url string) error { return second(storage.CreateFile(ctx, url+"2", nil)) },
		"remove":  storage.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bucket, folder := storagetest.New()
				publish(t, folder+"/in.csv", "text")
				bucket.Disturb(func(op, _ string) error {
					if op == name {
						return storagetest.ErrHang
					}
					return nil
				})
				began := time.Now()
				err := call(t.Context(), folder+"/in.csv")
				if taken := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || taken != storage.CallTimeout {
					t.Errorf("got %v after %v", err, taken)
				}
			})
		})
	}
}

// stuck is a bucket whose bodies have a byte, and no more until their context ends.
type stuck struct{ storage.Bucket }

func (stuck) Read(ctx context.Context, _ string, _ storage.Info, offset, _ int64) (*storage.Body, error) {
	r, w := io.Pipe()
	go func() {
		_, _ = w.Write([]byte("a"))
		<-ctx.Done()
		w.CloseWithError(ctx.Err())
	}()
	asked := []string{"bytes 0-2/3", "bytes 1-2/3", "bytes 2-2/3"}
	return &storage.Body{ReadCloser: r, ETag: "1", Range: asked[offset]}, nil
}

// What a body had until its time was over counts.
func TestStuckBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		text, err := io.ReadAll(storage.Source(t.Context(), stuck{}, storage.Info{Size: 3, ETag: "1"}))
		if taken := time.Since(began); string(text) != "aaa" || err != nil || taken != 2*storage.ReadTimeout {
			t.Errorf("got %q, %v after %v", text, err, taken)
		}
	})
}
