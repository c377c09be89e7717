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

// admit reports whether the request is admitted, or else the time until a request is. It sets the headers of the rate limit. The
// headers state this time ("t") only in refusals: clients wait for it in whole seconds.
func (l *limiter) admit(h http.Header) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	now := time.Now()
	reservation := l.bucket.ReserveN(now, 1)
	ok = reservation.DelayFrom(now) <= earlyBy
	if !ok {
		reservation.CancelAt(now)
	}
	left := l.bucket.TokensAt(now)
	h[policyHeader] = l.policy
	if ok {
		h[limitHeader] = []string{`"key";r=` + strconv.Itoa(max(0, int(left)))}
		return 0, true
	}
	wait = time.Duration((1 - left) / float64(l.bucket.Limit()) * float64(time.Second))
	h[limitHeader] = []string{`"key";r=0;t=` + retryAfter(wait)}
	return wait, false
}
