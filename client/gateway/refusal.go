package gateway

import (
	"fmt"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// The errors of the gateway have the forms of the service. Only those of the class Quota have the word
// quota: clients conclude from that word that waiting does not help. No error has a text of the upstream
// but a rejection, which is about the input.

// shortly is the Retry-After of refusals that may end at any time. Clients lower their rate for up to two
// seconds, and stop asking for longer values.
const shortly = 2 * time.Second

func malformed(err error) *client.Error {
	return &client.Error{Class: client.Rejected, Status: http.StatusBadRequest, Detail: err.Error()}
}

func noClassification(err error) *client.Error {
	return &client.Error{Class: client.Rejected, Status: http.StatusNotFound, Detail: err.Error()}
}

func noQuota(refill time.Duration) *client.Error {
	return &client.Error{Class: client.Quota, Status: http.StatusPaymentRequired, RetryAfter: refill, Detail: "the quota of this API key is used up; stored answers are still served"}
}

func noUpstreamQuota() *client.Error {
	return &client.Error{Class: client.Quota, Status: http.StatusPaymentRequired, Detail: "the quota that all keys share is used up; stored answers are still served"}
}

func tooFast(wait time.Duration) *client.Error {
	return &client.Error{Class: client.Transient, Status: http.StatusTooManyRequests, RetryAfter: max(wait, 1), Detail: "this API key asks faster than its share; slow down"}
}

func outage() *client.Error { return unavailable("the upstream service is out") }

func unusable() *client.Error {
	return &client.Error{Class: client.Transient, Status: http.StatusBadGateway, Detail: "the answers of the upstream service cannot be used; the log of the gateway says why"}
}

// refusal returns a rejection as the gateway answers it. An answer of another shape has the status of a success.
func refusal(e *client.Error) *client.Error {
	if e.Status/100 != 2 {
		return e
	}
	refused := *e
	refused.Status = http.StatusUnprocessableEntity
	return &refused
}

func notReady() *client.Error {
	return unavailable("the answer is not ready; it is still being asked for")
}

func stopping() *client.Error { return unavailable("the gateway is stopping") }

func unavailable(detail string) *client.Error {
	return &client.Error{Class: client.Transient, Status: http.StatusServiceUnavailable, RetryAfter: shortly, Detail: detail}
}

// noAnswer is the end of a call without attempts left.
func noAnswer(attempts int, last *client.Error) *client.Error {
	return &client.Error{Class: client.Transient, Status: http.StatusBadGateway, Detail: fmt.Sprintf("the upstream service gave no answer in %d attempts, last error: %s", attempts, last.Label())}
}
