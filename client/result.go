package client

import (
	"errors"
	"net/http"

	"github.com/bulkcat/bulkcat/client/limits"
)

// ResultOf returns what an attempt tells a limits.Controller. A service that rejects an input, or is still calculating
// an answer, works.
func ResultOf(answer Answer, err error) limits.Result {
	if err == nil {
		result := limits.Result{Signal: limits.Answered, Rate: answer.Limit.PerSecond}
		if answer.Limit.Remaining >= 0 {
			result.Left, result.Ends = int(answer.Limit.Remaining), answer.Limit.Reset
		}
		return result
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return limits.Result{Signal: limits.Canceled}
	}
	result := limits.Result{Rate: e.Limit.PerSecond, Wait: e.RetryAfter}
	switch e.Class {
	case Rejected:
		result.Signal = limits.Answered
		if isSuccess(e.Status) { // an answer of another shape: see Error.Rejection
			result.Signal = limits.Canceled
		}
	case Transient:
		result.Signal = limits.Failed
		result.Broken = e.Status == 0 && !e.Timeout()
		switch e.meaning() {
		case limited:
			result.Signal = limits.Refused
		case unavailable:
			result.Signal = limits.Unavailable
		}
	case Unsent:
		result.Signal = limits.Unsent
	case Quota:
		result.Signal = limits.OutOfQuota
	default:
		result.Signal = limits.Canceled // the run ends
	}
	if e.Status == http.StatusAccepted {
		result = limits.Result{Signal: limits.Answered}
	}
	return result
}
