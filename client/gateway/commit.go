package gateway

import (
	"context"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/embedded"
)

// commitBounds bound the outcomes that one fsync makes durable. The delay is short in relation to the latency of a
// service.
var commitBounds = ask.Bounds{Outcomes: 1024, Bytes: 4 << 20, Delay: 5 * time.Millisecond}

// mostHeld rejections wait for an answer that confirms them. The oldest are given up first.
const mostHeld = 1000

// save passes an outcome on to commit.
func (g *Gateway) save(ctx context.Context, c *call) {
	select {
	case g.commits <- c:
	case <-ctx.Done(): // the store has failed
		g.end(c, false, nil, stopping())
	}
}

// commit makes outcomes durable, many with one fsync, together with the charges to the keys, and then ends the calls. The error
// comes from the store.
func (g *Gateway) commit() error {
	batch := g.options.Store.NewBatch()
	var rejected ask.Rejected[*call]
	for group := range ask.Groups(g.commits, commitBounds) {
		for _, c := range confirmed(&rejected, group) {
			batch.Add(c.Request, c.outcome)
		}
		var charged []*embedded.Key
		for _, c := range group {
			if c.outcome.Rejection == nil {
				charged = append(charged, c.key)
			}
		}
		err := g.service.Charge(charged, func(notes map[string][]byte) error {
			batch.AddNotes(notes)
			return batch.Commit()
		})
		if err != nil {
			return err
		}
		for _, c := range group {
			g.endCommitted(c)
		}
	}
	return nil
}

// BodySize returns the length of the body to store.
func (c *call) BodySize() int { return len(c.outcome.Answer.Body) }

// confirmed returns the calls whose outcomes the caller stores: the answers of a group, and the rejections that these answers
// confirm. The requests of the result are distinct: of equal requests the newest outcome counts.
func confirmed(rejected *ask.Rejected[*call], group []*call) (stored []*call) {
	var latest time.Time // when the latest answered request was sent
	for _, c := range group {
		rejected.Forget(c.Request)
		if c.outcome.Rejection != nil {
			if !c.unsure {
				rejected.Hold(c)
			}
			continue
		}
		if c.Sent.After(latest) {
			latest = c.Sent
		}
		stored = append(stored, c)
	}
	stored = append(stored, rejected.Confirm(latest)...)
	rejected.GiveUp(mostHeld)
	return stored
}

func (g *Gateway) endCommitted(c *call) {
	if e := c.outcome.Rejection; e != nil {
		g.end(c, false, nil, refusal(e))
		return
	}
	body := c.outcome.Answer.Body
	client.Release(&c.outcome.Answer)
	g.end(c, true, body, nil)
}
