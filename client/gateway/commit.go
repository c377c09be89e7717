package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

const (
	// commitDelay is how long the first outcome of a group waits for others, so that one fsync carries
	// more. It is short in relation to the latency of a service.
	commitDelay = 5 * time.Millisecond

	commitGroup = 1024    // outcomes, at most
	commitBytes = 4 << 20 // of bodies, at most

	// mostHeld rejections wait for an answer that confirms them. The oldest are given up first.
	mostHeld = 1000
)

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
	var held rejections
	saving := true // the used quota can be saved
	for f := range g.commits {
		group := g.gather(f)
		for _, f := range held.add(group) {
			batch.Add(f.request, f.outcome)
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

// gather collects outcomes until the delay is over or the group is full.
func (g *Gateway) gather(first *flight) []*flight {
	group, bytes := []*flight{first}, len(first.outcome.Answer.Body)
	timer := time.NewTimer(commitDelay)
	defer timer.Stop()
	for len(group) < commitGroup && bytes < commitBytes {
		select {
		case f, ok := <-g.commits:
			if !ok {
				return group
			}
			group = append(group, f)
			bytes += len(f.outcome.Answer.Body)
		case <-timer.C:
			return group
		}
	}
	return group
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

// rejections are flights whose rejections are not stored, because no request that was sent later has been
// answered.
type rejections []*flight

// add adds a group of flights, and returns those whose outcomes are to be stored: all answers, and the
// rejections that the answers confirm. The requests of the result are distinct.
func (h *rejections) add(group []*flight) (stored []*flight) {
	var latest time.Time // when the latest answered request was sent
	seen := map[client.Request]bool{}
	for _, f := range group {
		switch {
		case f.outcome.Rejection != nil:
			*h = append(*h, f)
			continue
		case f.sent.After(latest):
			latest = f.sent
		}
		seen[f.request] = true
		stored = append(stored, f)
	}
	var waiting rejections
	for i := len(*h) - 1; i >= 0; i-- { // of equal requests the newest outcome counts
		f := (*h)[i]
		switch {
		case seen[f.request]:
			continue
		case f.sent.Before(latest):
			stored = append(stored, f)
		case len(waiting) < mostHeld:
			waiting = append(waiting, f)
		}
		seen[f.request] = true
	}
	slices.Reverse(waiting)
	*h = waiting
	return stored
}
