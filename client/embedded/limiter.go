package embedded

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"
)

// The response headers of a rate limit, as net/http spells them
// (draft-ietf-httpapi-ratelimit-headers).
const (
	policyHeader = "Ratelimit-Policy"
	limitHeader  = "Ratelimit"
)

// earlyBy is the most that a request may be early: after a request that the network has delayed, the next
// request of a client that sends at exactly the rate is early. The request passes at once, because callers hold
// locks, and the requests after it pay for the time.
const earlyBy = 5 * time.Millisecond

// limiter limits the categorizations of one key to its rate. It does not count requests for
// usage, by which a refused client finds out why it was refused.
type limiter struct {
	bucket    *rate.Limiter
	perSecond float64
	policy    []string // the value of policyHeader
}

// newLimiter returns nil if there is no rate. A nil limiter admits every request.
func newLimiter(r Rate, burst int) *limiter {
	if r.Requests <= 0 {
		return nil
	}
	return &limiter{
		bucket:    rate.NewLimiter(rate.Limit(r.perSecond()), burst),
		perSecond: r.perSecond(),
		policy:    []string{fmt.Sprintf(`"key";q=%d;w=%d`, r.Requests, int(r.Window.Seconds()))},
	}
}

// admit returns nil if the request may pass, and the error response if not. It sets the headers
// of the rate limit. They state the time until the window ends ("t") only if no request passes
// before then: clients wait for that time, which is in whole seconds.
func (l *limiter) admit(h http.Header) *apiError {
	if l == nil {
		return nil
	}
	now := time.Now()
	reservation := l.bucket.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	passes := wait <= earlyBy
	if !passes {
		reservation.CancelAt(now)
	}
	left := l.bucket.TokensAt(now)
	h[policyHeader] = l.policy
	if passes {
		h[limitHeader] = []string{`"key";r=` + strconv.Itoa(max(0, int(left)))}
		return nil
	}
	problem := tooFast(time.Duration((1 - left) / l.perSecond * float64(time.Second)))
	h[limitHeader] = []string{`"key";r=0;t=` + problem.retryAfter()}
	return problem
}
