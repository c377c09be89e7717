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

// earlyBy is the time by which a request may be early. If a client sends at exactly the rate, and the network delays a request,
// the next request is early. That request is admitted at once, and later requests pay for the time.
const earlyBy = 5 * time.Millisecond

// limiter limits the categorizations of one key to its rate. Usage requests are not limited: a refused client sends them to
// find the cause.
type limiter struct {
	bucket *rate.Limiter
	policy []string // the value of policyHeader
}

// newLimiter returns nil if there is no rate. A nil limiter admits every request.
func newLimiter(r Rate, burst int) *limiter {
	if r.Requests <= 0 {
		return nil
	}
	return &limiter{
		bucket: rate.NewLimiter(rate.Limit(r.perSecond()), burst),
		policy: []string{fmt.Sprintf(`"key";q=%d;w=%d`, r.Requests, int(r.Window.Seconds()))},
	}
}

// admit returns nil if the request is admitted, and else the error response. It sets the headers of the rate limit. The headers
// state the time until the next request ("t") only in refusals: clients wait for that time, which is in whole seconds.
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
	problem := tooFast(time.Duration((1 - left) / float64(l.bucket.Limit()) * float64(time.Second)))
	h[limitHeader] = []string{`"key";r=0;t=` + problem.retryAfter()}
	return problem
}
