package fair

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type bounded struct {
	anonymous
	most int
}

func (b *bounded) InFlight() int { return b.most }

// An account with a bound holds no more places, and its requests wait while others are free. Other accounts take them.
func TestBoundedAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlaces(100, true)
		few, other := &bounded{most: 2}, &bounded{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var leave func()
		for range 2 {
			var err error
			if leave, err = p.Take(WithAccount(ctx, few)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Take(WithAccount(ctx, few)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third place: %v", err)
		}
		if _, err := p.Take(WithAccount(t.Context(), other)); err != nil {
			t.Errorf("another account: %v", err)
		}
		time.AfterFunc(time.Minute, leave)
		if _, err := p.Take(WithAccount(t.Context(), few)); err != nil {
			t.Errorf("after one has left: %v", err)
		}
		if held, waiting := p.Of(few); held != 2 || waiting != 0 {
			t.Errorf("%d places, %d waiting", held, waiting)
		}
	})
}
