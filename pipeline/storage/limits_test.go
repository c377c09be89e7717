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

func (stuck) Read(ctx context.Context, _ string, _ storage.Info, _, _ int64) (io.ReadCloser, error) {
	r, w := io.Pipe()
	go func() {
		_, _ = w.Write([]byte("a"))
		<-ctx.Done()
		w.CloseWithError(ctx.Err())
	}()
	return r, nil
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
