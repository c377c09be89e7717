package proof

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// Trouble is a state in which an upstream does not serve for some seconds.
type Trouble string

// The troubles.
const (
	Dies    Trouble = "dies"    // connections are refused, and open connections are reset
	Limits  Trouble = "limits"  // every request gets a 429 with the time that is left
	Revokes Trouble = "revokes" // the key gets a 401
)

// Troubles are all troubles, which take turns.
var Troubles = []Trouble{Dies, Limits, Revokes}

const (
	troubleLeast = 2 * time.Second
	troubleMost  = 6 * time.Second
	troublePause = 2 * time.Second // between troubles, on average
)

// present is a trouble with its end.
type present struct {
	Trouble
	until time.Time
}

// now is the present trouble of an upstream; nil for none.
type now struct{ atomic.Pointer[present] }

func (n *now) isRevoked() bool {
	t := n.Load()
	return t != nil && t.Trouble == Revokes
}

// left returns how long the upstream will refuse all requests; 0 if it does not.
func (n *now) left() time.Duration {
	if t := n.Load(); t != nil && t.Trouble == Limits {
		return max(1, time.Until(t.until))
	}
	return 0
}

// disturb brings the upstream into trouble p.Troubles times, or until ctx ends. The upstream serves again when disturb returns.
func (p *proof) disturb(ctx context.Context) error {
	for n := range p.Troubles {
		if !sleep(ctx, time.Duration(float64(troublePause)*(0.5+p.troubles.Float64()))) {
			return nil
		}
		kind := Troubles[n%len(Troubles)]
		lasts := troubleLeast + time.Duration(p.troubles.Int64N(int64(troubleMost-troubleLeast)))
		p.now.Store(&present{kind, time.Now().Add(lasts)})
		if kind == Dies {
			p.upstream.Close()
			p.died(time.Now())
		}
		sleep(ctx, lasts)
		p.now.Store(nil)
		p.report.Troubled++
		if kind != Dies {
			continue
		}
		if err := p.upstream.Open(); err != nil {
			return fmt.Errorf("the upstream cannot come back: %w", err)
		}
	}
	return nil
}

// sleep waits for d, and reports whether ctx has not ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// died notes the death of the gateway or of its upstream: requests in flight may be asked again.
func (p *proof) died(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaths = append(p.deaths, at)
}

// committed is the longest time from an answer until the gateway has made the answer durable, on a busy machine.
const committed = 2 * time.Second

// unexplained returns the number of answers that were asked for again although nothing died while they were in flight.
func (p *proof) unexplained(answers map[string][]clienttest.Visit) (n int) {
	for _, visits := range answers {
		for _, v := range visits[:len(visits)-1] {
			if !slices.ContainsFunc(p.deaths, func(at time.Time) bool { return at.After(v.Arrived) && at.Before(v.Left.Add(committed)) }) {
				n++
			}
		}
	}
	return n
}
