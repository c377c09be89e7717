package limiters

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// quota is our own, because a quota belongs to the accounts of a service and not to a library: 600
// requests, which return 90 seconds after the first one.
type quota struct {
	mu      sync.Mutex
	left    int
	returns time.Time
}

const (
	quotaRequests = 600
	quotaPeriod   = 90 * time.Second
)

func withQuota() middleware {
	q := new(quota)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			usage := strings.HasSuffix(r.URL.Path, "/usage")
			left, wait := q.take(!usage)
			switch {
			case usage:
				_, _ = fmt.Fprintf(w, `{"plan":"test","remaining":"%d"}`, left)
			case left < 0:
				w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
				http.Error(w, `{"error":"daily quota exceeded"}`, http.StatusTooManyRequests)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

// take returns what is left, -1 for a request too many, and the time until the quota returns.
func (q *quota) take(one bool) (left int, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := time.Now(); now.After(q.returns) {
		q.left, q.returns = quotaRequests, now.Add(quotaPeriod)
	}
	if one && q.left == 0 {
		return -1, time.Until(q.returns)
	}
	if one {
		q.left--
	}
	return q.left, time.Until(q.returns)
}
