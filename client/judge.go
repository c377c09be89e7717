package client

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// Judge is a Categorizer that settles what an ambiguous error means. Services answer a
// used-up quota with 401, 403, 429 or 503 as well, which each mean something else, too;
// what is left of the account tells them apart.
//
//	what is left           body      401, 403      429, 503
//	nothing                any       quota         quota
//	a number above 0       any       auth, or ¹    transient
//	"unlimited"            quota     quota         quota
//	"unlimited"            other     auth, or ¹    transient
//	usage fails            quota     quota         quota
//	usage fails            other     auth, or ²    transient
//
// ¹ Transient once the service has answered this run: the key is good, so this is a ban
// that passes. ² Transient likewise, unless usage answers 401: a ban covers usage, too, and
// says 403 there.
type Judge struct {
	next     Categorizer
	usage    func(context.Context) (Usage, error)
	answered atomic.Int64 // requests

	mu   sync.Mutex // held while usage is asked: one asks, the others wait for the answer
	last testimony
}

// testimony is what usage said, and when.
type testimony struct {
	usage    Usage
	err      error
	at       time.Time
	answered int64 // requests by then
}

// NewJudge judges what comes from a client.
func NewJudge(c *HTTP) *Judge { return &Judge{next: c, usage: c.Usage} }

// Categorize asks once.
func (j *Judge) Categorize(ctx context.Context, r Request) (Answer, error) {
	sent := time.Now()
	answer, err := j.next.Categorize(ctx, r)
	var e *Error
	switch {
	case err == nil:
		j.answered.Add(1)
	case errors.As(err, &e) && ambiguous(e.Status):
		judged := *e
		judged.Class = j.verdict(ctx, e, sent)
		if ctx.Err() != nil {
			return answer, ctx.Err() // usage was not asked to its end: there is no verdict
		}
		return answer, &judged
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

func (j *Judge) verdict(ctx context.Context, e *Error, sent time.Time) Class {
	keyInDoubt := e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	blamesQuota := quotaWords.MatchString(e.Detail)
	t := j.hear(ctx, sent, keyInDoubt || blamesQuota)
	left, isNumber := t.usage.Requests()
	switch {
	case t.err == nil && isNumber && left == 0:
		return Quota
	case blamesQuota && !(t.err == nil && isNumber):
		return Quota
	case !keyInDoubt:
		return Transient
	case j.answered.Load() > 0 && !refusesKey(t.err):
		return Transient
	}
	return Auth
}

// refusesKey says whether usage ended in a way that a ban does not.
func refusesKey(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized
}

// quotaWords are what bodies say of a used-up account. A limit a second or a minute is
// none, even where it is called a quota: what is left decides then.
var quotaWords = regexp.MustCompile(`(?i)\bquota|\bcredits?\b|out of (requests|calls|funds)|insufficient (funds|balance)|no (requests|calls) (left|remaining)|(monthly|daily|plan|usage|account) (limit|allowance)|\ballowance|upgrade your plan|payment required`)

// trusted is how long usage's word holds that something is left, if less than that has
// been used since. Others may use the account, too.
const trusted = time.Minute

// unheard is how long a usage operation that failed is left alone, unless the key is in
// doubt: a service that is out answers nothing there either.
const unheard = 10 * time.Minute

// hear gives what usage says. It is asked anew when what it said before the request was
// sent cannot settle the case; all that wait for it share one answer.
func (j *Judge) hear(ctx context.Context, sent time.Time, fresh bool) testimony {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.last.at.After(sent) { // another worker asked meanwhile
		return j.last
	}
	if !fresh && j.holds() {
		return j.last
	}
	answered := j.answered.Load()
	usage, err := j.usage(ctx)
	j.last = testimony{usage: usage, err: err, at: time.Now(), answered: answered}
	return j.last
}

// holds says whether what usage said last can still be relied on.
func (j *Judge) holds() bool {
	age := time.Since(j.last.at)
	switch left, isNumber := j.last.usage.Requests(); {
	case j.last.at.IsZero():
		return false
	case j.last.err != nil:
		return age < unheard
	case isNumber:
		return age < trusted && j.answered.Load()-j.last.answered < left
	}
	return age < trusted
}
