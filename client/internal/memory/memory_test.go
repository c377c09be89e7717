package memory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(10)
		grow := func(ctx context.Context, s *Share, bytes int64) (done func() error) {
			ended := make(chan error, 1)
			go func() { ended <- s.Grow(ctx, bytes) }()
			synctest.Wait()
			return func() error {
				select {
				case err := <-ended:
					return err
				default:
					return errors.New("waits")
				}
			}
		}
		must := func(when string, got error) {
			t.Helper()
			if got != nil {
				t.Fatalf("%s: %v", when, got)
			}
		}
		a, b, c := r.Share(), r.Share(), r.Share()
		must("within the pool", grow(t.Context(), a, 6)())
		must("within the pool, too", grow(t.Context(), b, 4)())
		must("alone beyond it", grow(t.Context(), a, 1)())
		must("as far as it likes", grow(t.Context(), a, 100)())
		waiting := grow(t.Context(), b, 1)
		if waiting() == nil {
			t.Fatal("two grow beyond the pool")
		}
		ctx, cancel := context.WithCancel(t.Context())
		canceled := grow(ctx, c, 1)
		cancel()
		synctest.Wait()
		if err := canceled(); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		a.Release()
		synctest.Wait()
		must("the next one alone", waiting())
		must("in the pool that is free again", grow(t.Context(), c, 6)())
		b.Release()
		c.Release()
		(*Share)(nil).Release()
		must("all is free", grow(t.Context(), a, 10)())
		if a.alone {
			t.Error("the share exceeds an empty pool")
		}
	})
}
