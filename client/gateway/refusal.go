package gateway

import (
	"fmt"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// The errors of the gateway have the forms of the service. Only errors of the class Quota have the word quota: clients conclude
// from that word that waiting does not help. Only a rejection, which is about the input, has a text of the upstream.

// shortly is the Retry-After of refusals that may end at any time. If the value is up to two seconds, clients lower their rate;
// if it is longer, they stop asking.
const shortly = 2 * time.Second

func invalid(status int, err error) *client.Error {
	return &client.Error{Class: client.Rejected, Status: status, Detail: err.Error()}
}

func noQuota(quota string, refill time.Duration) *client.Error {
	return &client.Error{Class: client.Quota, Status: http.StatusPaymentRequired, RetryAfter: refill, Detail: quota + " is used up; stored answers are still served"}
}

func tooFast(wait time.Duration) *client.Error {
	return &client.Error{Class: client.Transient, Status: http.StatusTooManyRequests, RetryAfter: max(wait, 1), Detail: "this API key asks faster than its share; slow down"}
}

// unserved is a refusal because of the upstream. Clients take the status 502 for an outage, and 503 for a limit of their
// own rate, which they would lower.
func unserved(detail string, wait time.Duration) *client.Error {
	return &client.Error{Class: client.Transient, Status: http.StatusBadGateway, RetryAfter: max(wait, shortly), Detail: detail}
}

func outage() *client.Error { return unserved("the upstream service is out", 0) }

func limited(wait time.Duration) *client.Error {
	return unserved("the upstream service refuses requests for a while", wait)
}

func blocked(wait time.Duration) *client.Error {
	return unserved("the upstream service refuses the API key of the gateway, which its operator has to mend", wait)
}

func unusable() *client.Error {
	return &client.Error{Class: client.Transient, Status: http.StatusBadGateway, Detail: "the answers of the upstream service cannot be used; the log of the gateway says why"}
}

// refusal returns a rejection as the gateway answers it. If an answer of an unexpected shape was rejected, refusal replaces the
// status, which says success.
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
