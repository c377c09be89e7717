package gateway

import (
	"context"
	"time"

	"github.com/bulkcat/bulkcat/client/ask"
)

// commitBounds bound the outcomes that one fsync makes durable. The delay is short in relation to the latency of a
// service.
var commitBounds = ask.Bounds{Outcomes: 1024, Bytes: 4 << 20, Delay: 5 * time.Millisecond}

// mostHeld rejections wait for an answer that confirms them. The oldest are given up first.
const mostHeld = 1000

// save has an outcome committed.
func (g *Gateway) save(ctx context.Context, f *flight) {
	select {
	case g.commits <- f:
	case <-ctx.Done(): // the store has failed
		g.end(f, false, nil, stopping())
	}
}

// commit makes outcomes durable, many with one fsync, charges the keys, and then ends the flights. The
// error is that of the store.
func (g *Gateway) commit() error {
	batch := g.options.Store.NewBatch()
	var rejected ask.Rejected[*flight]
	saving := true // the used quota can be saved
	for group := range ask.Groups(g.commits, commitBounds) {
		for _, f := range confirmed(&rejected, group) {
			batch.Add(f.Request, f.outcome)
		}
		if err := batch.Commit(); err != nil {
			return err
		}
		for _, f := range group {
			if f.outcome.Rejection == nil {
				f.key.Charge()
			}
		}
		err := g.service.SaveUsage()
		if err != nil && saving {
			g.log.Error("the used quota is not saved; saving is retried", "error", err)
		}
		saving = err == nil
		for _, f := range group {
			g.endCommitted(f)
		}
	}
	return nil
}

// BodySize returns the length of the body that is to be stored.
func (f *flight) BodySize() int { return len(f.outcome.Answer.Body) }

// confirmed returns the flights whose outcomes are to be stored: the answers of a group, and the rejections that these
// confirm. The requests of the result are distinct: of equal requests the newest outcome counts.
func confirmed(rejected *ask.Rejected[*flight], group []*flight) (stored []*flight) {
	var latest time.Time // when the latest answered request was sent
	for _, f := range group {
		rejected.Forget(f.Request)
		if f.outcome.Rejection != nil {
			rejected.Hold(f)
			continue
		}
		if f.Sent.After(latest) {
			latest = f.Sent
		}
		stored = append(stored, f)
	}
	stored = append(stored, rejected.Confirm(latest)...)
	rejected.GiveUp(mostHeld)
	return stored
}

func (g *Gateway) endCommitted(f *flight) {
	if e := f.outcome.Rejection; e != nil {
		g.end(f, false, nil, refusal(e))
		return
	}
	body := f.outcome.Answer.Body
	f.outcome.Answer.Release()
	g.end(f, true, body, nil)
}
