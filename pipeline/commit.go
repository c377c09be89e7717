package pipeline

import (
	"errors"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

const (
	// commitBatch outcomes and commitBytes of bodies bound what one fsync makes durable, and
	// with it what waits in memory.
	commitBatch = 1024
	commitBytes = 4 << 20

	// commitDelay is how long the first outcome of a batch waits for others, so that one fsync
	// carries more. A kill loses the answers of that time, of one fsync, and the requests in
	// flight.
	commitDelay = 15 * time.Millisecond
)

// commit makes outcomes durable, many with one fsync, and only then lets their tasks be
// done.
func (r *run) commit() error {
	if r.Store == nil {
		<-r.commits // closed when the workers are gone
		return nil
	}
	batch := r.Store.NewBatch()
	group := make([]*task, 0, commitBatch)
	timer := time.NewTimer(commitDelay)
	defer timer.Stop()
	for t := range r.commits {
		timer.Reset(commitDelay)
		group = r.gather(append(group[:0], t), timer.C)
		for _, t := range group {
			batch.Add(t.request, outcome(t))
		}
		if err := batch.Commit(); err != nil {
			return err
		}
		for _, t := range group {
			r.land(t)
			r.leave()
		}
	}
	return nil
}

// gather adds the outcomes that come in until the time is over or the batch is full.
func (r *run) gather(group []*task, over <-chan time.Time) []*task {
	bytes := len(group[0].answer.Body)
	for len(group) < cap(group) && bytes < commitBytes {
		select {
		case t, ok := <-r.commits:
			if !ok {
				return group
			}
			group = append(group, t)
			bytes += len(t.answer.Body)
		case <-over:
			return group
		}
	}
	return group
}

func outcome(t *task) answers.Outcome {
	o := answers.Outcome{Answer: t.answer}
	if e, ok := errors.AsType[*client.Error](t.err); ok {
		o.Rejection = e
	}
	return o
}
