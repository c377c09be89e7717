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
	"github.com/bulkcat/bulkcat/client/answers"
)

// Quota tells how many requests the API key of a hosted service has left. The figure is at most a minute old while it is shown.
type Quota struct {
	standing *client.Standing // of the service
	askUsage func(context.Context) (client.Usage, error)
	watched  bool // the quota is checked before the run, and shown during the run
	log      *slog.Logger

	mu       sync.Mutex
	usage    client.Usage
	usageAt  time.Time // when the service reported usage
	charged  int64     // answers of the service before usageAt
	asked    time.Time
	sampling bool // a goroutine asks for usage
	unclear  bool // the log has the warning that the quota is no number
}

const (
	quotaInterval = time.Minute
	quotaTimeout  = 10 * time.Second // the run does not wait for the figure
	lastTimeout   = 3 * time.Second  // the summary waits for the answer
)

// NewQuota returns the quota of a service. usage asks the service; it is nil for a service without quotas. A watched quota is
// checked before the run and shown during the run.
func NewQuota(standing *client.Standing, usage func(context.Context) (client.Usage, error), watched bool, log *slog.Logger) *Quota {
	q := &Quota{standing: standing, askUsage: usage, watched: watched && usage != nil, log: log}
	if usage == nil {
		q.askUsage = func(context.Context) (client.Usage, error) { return client.Usage{Remaining: "unlimited"}, nil }
	}
	return q
}

// Check asks for the quota before the first record, so that a wrong key fails before it costs anything. If the service has ever
// answered, by its Standing or by the answers of source in the store, which may be nil, the key is right, and a 403 is no error:
// an earlier run may have caused a temporary block. Failures other than client.Auth are logged and ignored.
func (q *Quota) Check(ctx context.Context, store *answers.Store, source string) error {
	if !q.watched {
		return nil
	}
	err := q.sample(ctx)
	if e, ok := errors.AsType[*client.Error](err); ok && e.Class == client.Auth {
		known, storeErr := false, error(nil)
		if e.Status == http.StatusForbidden {
			known, storeErr = q.standing.Ever(func() (bool, error) { return store.Has(source) })
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

// sample asks the service for the usage, and stores it.
func (q *Quota) sample(ctx context.Context) error {
	charged := q.standing.Charged()
	usage, err := q.askUsage(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = time.Now()
	if err == nil {
		q.usage, q.usageAt, q.charged = usage, q.asked, charged
		if !q.unclear && !usage.Understood() {
			q.unclear = true
			q.log.Warn("the service does not say how much quota is left as a number of requests: the run does not stop before the service refuses", "remaining", usage.Remaining)
		}
	}
	return err
}

// Left returns the quota that the service last reported, minus one request for each answer since; nil if the quota is unknown or
// unlimited. With asking, a figure older than a minute is refreshed in the background.
func (q *Quota) Left(asking bool) *int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if asking && q.watched && !q.sampling && time.Since(q.asked) >= quotaInterval {
		q.sampling = true
		go q.sampleForShow()
	}
	left, isNumber := q.usage.Requests()
	if !isNumber {
		return nil
	}
	left = max(0, left-(q.standing.Charged()-q.charged))
	return &left
}

func (q *Quota) sampleForShow() {
	q.refresh(quotaTimeout)
	q.mu.Lock()
	q.sampling = false
	q.mu.Unlock()
}

// refresh asks for the usage; a failure is logged only.
func (q *Quota) refresh(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := q.sample(ctx); err != nil {
		q.log.Debug("the service does not say how much quota is left", "error", err)
	}
}

// Final returns the usage that the service last reported, and its age. With asking, it asks the service first.
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

// Ask asks the service for the usage.
func (q *Quota) Ask(ctx context.Context) (client.Usage, error) {
	if err := q.sample(ctx); err != nil {
		return client.Usage{}, err
	}
	return q.Usage(), nil
}

// Usage returns the usage that the service last reported.
func (q *Quota) Usage() client.Usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.usage
}
