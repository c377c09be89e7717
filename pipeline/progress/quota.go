package progress

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// Quota knows what the API key of a hosted service may still ask, as of a minute ago at most while the
// figure is shown.
type Quota struct {
	askUsage func(context.Context) (client.Usage, error)
	watched  bool // the quota is checked before the run, and shown during the run
	counters *Counters
	log      *slog.Logger

	mu       sync.Mutex
	usage    client.Usage
	usageAt  time.Time // when the service told usage
	answers  int64     // that the run had by then
	asked    time.Time
	sampling bool // for the bar
	unclear  bool // the log has a warning that usage is not understood
}

const (
	quotaInterval = time.Minute
	quotaTimeout  = 10 * time.Second // the figure is only shown
	lastTimeout   = 3 * time.Second  // the summary waits for the answer
)

// NewQuota returns the quota of a service: usage asks for it, and is nil for a service without quotas. If it is watched,
// it is checked before the run, and shown during the run.
func NewQuota(usage func(context.Context) (client.Usage, error), watched bool, counters *Counters, log *slog.Logger) *Quota {
	q := &Quota{askUsage: usage, watched: watched && usage != nil, counters: counters, log: log}
	if usage == nil {
		q.askUsage = func(context.Context) (client.Usage, error) { return client.Usage{Remaining: "unlimited"}, nil }
	}
	return q
}

// Check asks for the quota before the first record: a wrong key shows here, and costs nothing. A 403 is the block of a
// limiter if proven reports that the service has answered before: an earlier run may have caused the block. Other failures
// of the usage operation decide nothing.
func (q *Quota) Check(ctx context.Context, proven func() (bool, error)) error {
	if !q.watched {
		return nil
	}
	err := q.sample(ctx)
	if e, ok := errors.AsType[*client.Error](err); ok && e.Class == client.Auth {
		known, storeErr := false, error(nil)
		if e.Status == http.StatusForbidden {
			known, storeErr = proven()
		}
		if storeErr != nil || !known {
			return cmp.Or(storeErr, err)
		}
	}
	if err != nil && ctx.Err() == nil {
		q.log.Info("the service does not say how much quota is left", "error", err)
	}
	return nil
}

// sample asks how much quota is left.
func (q *Quota) sample(ctx context.Context) error {
	answers := answersOf(q.counters.Snapshot())
	usage, err := q.askUsage(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = time.Now()
	if err == nil {
		q.usage, q.usageAt, q.answers = usage, q.asked, answers
		q.warnUnclear()
	}
	return err
}

// warnUnclear warns once of a quota that is no number.
func (q *Quota) warnUnclear() {
	if q.unclear || q.usage.Understood() {
		return
	}
	q.unclear = true
	q.log.Warn("the service does not say how much quota is left as a number of requests: the run does not stop before the service refuses", "remaining", q.usage.Remaining)
}

// answersOf is the number of requests that got an answer.
func answersOf(s record.Snapshot) int64 {
	return s.Requests - s.InFlight - s.Rejections - s.Transient
}

// Left is the quota that the service told last, less one request for each answer since, which is the
// usual charge. If asking, the service is asked anew in the background when the figure is old.
func (q *Quota) Left(asking bool) (left int64, isNumber bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if asking && q.watched && !q.sampling && time.Since(q.asked) >= quotaInterval {
		q.sampling = true
		go q.sampleForShow()
	}
	left, isNumber = q.usage.Requests()
	return max(0, left-(answersOf(q.counters.Snapshot())-q.answers)), isNumber
}

func (q *Quota) sampleForShow() {
	q.refresh(quotaTimeout)
	q.mu.Lock()
	q.sampling = false
	q.mu.Unlock()
}

// refresh asks for a figure that is only shown.
func (q *Quota) refresh(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := q.sample(ctx); err != nil {
		q.log.Debug("the service does not say how much quota is left", "error", err)
	}
}

// Final asks for the quota after a run, if asking, and gives what the service told last, with the time since.
func (q *Quota) Final(asking bool) (usage client.Usage, since time.Duration) {
	if q.Usage() == (client.Usage{}) {
		return client.Usage{}, 0
	}
	if asking {
		q.refresh(lastTimeout)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !asking || !q.usageAt.Equal(q.asked) {
		since = time.Since(q.usageAt)
	}
	return q.usage, since
}

// Ask asks how much quota is left, for the limits of the run.
func (q *Quota) Ask(ctx context.Context) (client.Usage, error) {
	if err := q.sample(ctx); err != nil {
		return client.Usage{}, err
	}
	return q.Usage(), nil
}

// Usage is what the service told last.
func (q *Quota) Usage() client.Usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.usage
}
