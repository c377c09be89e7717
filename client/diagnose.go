package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/reply"
)

// Attempt makes one attempt for programs that decide themselves when to ask again. It implements [Attempter]. Services report a
// used-up quota with 401, 403, 429 or 503, which also have other meanings, or with another status and a message. After such an
// error, Attempt asks the usage operation, and finds the [Class] by the remaining quota:
//
//	remaining quota        body      401, 403      others
//	0                      any       Quota         Quota
//	above 0                any       Auth, or ¹    Transient
//	"unlimited"            quota     Quota         Quota
//	"unlimited"            other     Auth, or ¹    Transient
//	usage fails            quota     Quota         Quota
//	usage fails            other     Auth, or ²    Transient
//
// "quota" in the second column is a body that blames the quota. If the usage request is refused, the last known quota counts. If
// the last known quota was "unlimited", the quota is not used up: a limiter refuses all requests. ¹ The class is Transient if the
// service has answered a request with this key before, in this run or an earlier run: the key is valid, so the refusal is a
// limit. A 403 is also Transient for a minute if usage has answered. ² As ¹, unless usage answers 401: then the class is Transient
// for a minute if the service has answered a request in this run, because a key is being replaced, or one of several backends does
// not know it. A 403 from usage proves nothing, because a banned client gets it, too; but a 401 is Auth after 15 minutes without an
// answer.
func (c *HTTP) Attempt(ctx context.Context, r Request) (Answer, error) {
	return c.diagnoser.attempt(ctx, r)
}

// diagnoser finds the Class of ambiguous errors: see [HTTP.Attempt]. It is safe for concurrent use.
type diagnoser struct {
	next     func(context.Context, Request) (Answer, error)
	usage    func(context.Context) (Usage, error)
	standing *Standing

	mu     sync.Mutex
	last   usageReply
	asking chan struct{} // closed when the usage request in flight has ended; nil for none

	deny atomic.Pointer[time.Time] // when denies was first called since an attempt ended in another way; nil for never
}

// mostDenied is how long a 403 counts as a limit if only the usage operation has answered, and a 401 as a passing failure if the
// service has answered in this run. After that, the key probably has no access, or was revoked.
const mostDenied = time.Minute

// mostUnexplained is mostDenied for a 401 if the usage operation fails in another way. No limiter is known that answers 401 for so
// long.
const mostUnexplained = 15 * time.Minute

// usageReply is the last reply of the usage operation.
type usageReply struct {
	usage   Usage
	err     error
	refused bool // the usage operation was refused, and usage is from its last answer
	at      time.Time
	charged int64 // number of answers before the usage request
}

// attempt makes one attempt, and asks the usage operation if the attempt ends with an ambiguous error.
func (d *diagnoser) attempt(ctx context.Context, r Request) (Answer, error) {
	sent := time.Now()
	answer, err := d.next(ctx, r)
	if d.deny.Load() != nil && !deniesKey(err) && ctx.Err() == nil {
		d.deny.Store(nil)
	}
	if e, ok := errors.AsType[*Error](err); ok && (ambiguous(e.Status) || e.spent && e.Class != Quota) {
		diagnosed := *e
		diagnosed.Class = d.diagnose(ctx, e, sent)
		if ctx.Err() != nil {
			return answer, ctx.Err() // the usage request was cut off: the class is unknown
		}
		return answer, &diagnosed
	}
	return answer, err
}

func ambiguous(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// diagnose returns the class of an ambiguous error.
func (d *diagnoser) diagnose(ctx context.Context, e *Error, sent time.Time) Class {
	keyInDoubt := deniesKey(e)
	blamesQuota := e.spent || e.refusal().Says(reply.QuotaWords)
	var longest time.Duration
	if !blamesQuota && (!keyInDoubt || d.standing.State() >= Proven) { // probably a limit
		longest = usagePatience
	}
	last := d.usageSince(ctx, sent, keyInDoubt || blamesQuota, longest)
	left, isNumber := last.usage.Requests()
	switch {
	case last.err == nil && isNumber && left == 0:
		return Quota
	case blamesQuota && (last.err != nil || !isNumber && !last.refused):
		return Quota
	case !keyInDoubt:
		return Transient
	case refusesKey(last.err) && (d.standing.State() < Answering || d.denies(mostDenied)):
		return Auth
	case e.Status == http.StatusUnauthorized && last.err != nil && d.denies(mostUnexplained):
		return Auth
	case d.standing.State() >= Proven:
		return Transient
	case e.Status == http.StatusForbidden && last.err == nil && !d.denies(mostDenied):
		return Transient
	}
	return Auth
}

// deniesKey reports whether an error may say that the key is not valid.
func deniesKey(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
}

// denies reports whether more than most has passed since its first call after the last attempt that ended in another way.
func (d *diagnoser) denies(most time.Duration) bool {
	now := time.Now()
	if d.deny.CompareAndSwap(nil, &now) {
		return false
	}
	first := d.deny.Load()
	return first != nil && now.Sub(*first) > most
}

// refusesKey reports whether the usage operation refused the key, with 401. A banned client gets 403.
func refusesKey(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusUnauthorized
}

// isRefusal reports whether a limiter refused the usage request. Some limiters answer 403.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.mayLimit() || e.Status == http.StatusForbidden)
}

// usageLifetime is how long a reply of the usage operation is valid. Other programs may use the same key.
const usageLifetime = time.Minute

// usageFailureLifetime is how long a failure of the usage operation is valid, unless the key is in doubt. During an outage,
// usage fails as well.
const usageFailureLifetime = 10 * time.Minute

// usagePatience is how long a refusal that is probably a limit waits for the usage request of another one. If it waited longer, the
// limits would learn of the refusals so late that thousands of requests are refused.
const usagePatience = 100 * time.Millisecond

// errUsageLate is the error of a usage request that has not been answered in time.
var errUsageLate = errors.New("the usage operation has not answered yet")

// usageSince returns a reply of the usage operation that came after sent or, unless fresh, that is still valid. It sends a
// request only if there is no such reply. Concurrent calls share one request; those that have not sent it wait up to longest,
// or without a bound if longest is 0.
func (d *diagnoser) usageSince(ctx context.Context, sent time.Time, fresh bool, longest time.Duration) usageReply {
	var late <-chan time.Time
	if longest > 0 {
		late = time.After(longest)
	}
	for {
		d.mu.Lock()
		last, asking := d.last, d.asking
		known := last.at.After(sent) || !fresh && d.lastIsValid()
		if !known && asking == nil {
			d.asking = make(chan struct{})
		}
		d.mu.Unlock()
		switch {
		case known:
			return last
		case asking == nil:
			return d.ask(ctx)
		}
		select {
		case <-asking:
		case <-late:
			return usageReply{err: errUsageLate}
		case <-ctx.Done():
			return usageReply{err: ctx.Err()}
		}
	}
}

// ask asks the usage operation. If ctx ends, other calls do not use the reply.
func (d *diagnoser) ask(ctx context.Context) usageReply {
	charged := d.standing.Charged()
	usage, err := d.usage(ctx)
	refused := false
	if isRefusal(err) {
		if told, ok := d.standing.Told(); ok {
			usage, err, refused = told, nil, true
		}
	}
	reply := usageReply{usage: usage, err: err, refused: refused, at: time.Now(), charged: charged}
	d.mu.Lock()
	defer d.mu.Unlock()
	if ctx.Err() == nil {
		d.last = reply
	}
	close(d.asking)
	d.asking = nil
	return reply
}

// lastIsValid reports whether the last reply is recent, and stated more remaining requests than were answered since. The caller
// holds mu.
func (d *diagnoser) lastIsValid() bool {
	age := time.Since(d.last.at)
	switch left, isNumber := d.last.usage.Requests(); {
	case d.last.at.IsZero():
		return false
	case d.last.err != nil:
		return age < usageFailureLifetime
	case isNumber:
		return age < usageLifetime && d.standing.Charged()-d.last.charged < left
	}
	return age < usageLifetime
}
