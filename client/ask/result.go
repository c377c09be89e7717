package ask

import (
	"context"
	"errors"
	"net/http"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// NotSent is the result of a permit that was not used.
var NotSent = limits.Result{Signal: limits.Canceled, Unreached: true}

// ResultOf returns the result of an attempt for a limits.Controller. A service that rejects an input, or is still calculating an
// answer, works.
func ResultOf(answer client.Answer, err error) limits.Result {
	if err == nil && answer.Shared {
		return limits.Result{Signal: limits.Stored}
	}
	if err == nil {
		result := limits.Result{Signal: limits.Answered, Rate: answer.Limit.PerSecond}
		if answer.Limit.Remaining >= 0 {
			result.Left, result.Ends = int(answer.Limit.Remaining), answer.Limit.Reset
		}
		return result
	}
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		return limits.Result{Signal: limits.Canceled}
	}
	result := limits.Result{Rate: e.Limit.PerSecond, Wait: e.RetryAfter}
	switch e.Class {
	case client.Rejected:
		result.Signal = limits.Answered
		if e.Status/100 == 2 { // an answer of another shape: see client.Error.Rejection
			result.Signal = limits.Canceled
		}
	case client.Transient:
		result.Signal = limits.Failed
		result.Broken = e.Status == 0 && !e.Timeout()
		result.Unreached = e.Unreached()
		switch {
		case e.Refused():
			result.Signal = limits.Refused
		case e.Unavailable():
			result.Signal = limits.Unavailable
		}
	case client.Unsent:
		result.Signal = limits.Unsent
	case client.Quota:
		result.Signal = limits.OutOfQuota
	default:
		result.Signal = limits.Canceled // the run ends
	}
	if e.Status == http.StatusAccepted {
		result = limits.Result{Signal: limits.Answered}
	}
	return result
}

// QuotaOf returns the reply of the usage operation for a limits.Controller. A deadline of the context that has passed is a
// temporary failure, too.
func QuotaOf(u client.Usage, err error) limits.Quota {
	q := limits.Quota{Err: err, Transient: client.ClassOf(err) == client.Transient || errors.Is(err, context.DeadlineExceeded)}
	q.Left, q.Metered = u.Requests()
	return q
}
