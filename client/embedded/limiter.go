package embedded

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"
)

// The response headers that tell of a rate limit, as net/http spells them
// (draft-ietf-httpapi-ratelimit-headers).
const (
	policyHeader = "Ratelimit-Policy"
	limitHeader  = "Ratelimit"
)

// earlyBy is how much too early a request may come: it waits for its time. A client that sends
// at exactly the rate is early by this much after a request that the network has held up.
const earlyBy = 5 * time.Millisecond

// limiter keeps the categorizations of one key to its rate. Usage is not
// counted: a client that was refused asks it to learn why.
type limiter struct {
	bucket    *rate.Limiter
	perSecond float64
	policy    []string // the value of policyHeader
}

// newLimiter is nil where there is no rate. A nil limiter admits everyone.
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

// admit lets a request pass, or says what to answer. It sets the headers that
// tell of the limit. They name the end of the window ("t") only where nothing
// passes before it: clients sit it out, and whole seconds are long.
func (l *limiter) admit(h http.Header) *apiError {
	if l == nil {
		return nil
	}
	now := time.Now()
	turn := l.bucket.ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	passes := wait <= earlyBy
	if passes {
		time.Sleep(wait)
	} else {
		turn.CancelAt(now)
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
