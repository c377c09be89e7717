package embedded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// errorOf returns an error with the status, the message (Detail) and the Retry-After of its response.
func errorOf(err error) *client.Error {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e
	}
	return canceled
}

// appendError appends the body of an error's response to b; request is the request's id, or "".
func appendError(b []byte, e *client.Error, request string) []byte {
	type detail struct {
		Status  int    `json:"status"`
		Message string `json:"message"`
		Request string `json:"request_id,omitempty"`
	}
	body := struct {
		Error     detail `json:"error"`
		Remaining string `json:"remaining,omitempty"`
	}{Error: detail{e.Status, e.Detail, request}}
	if e.Class == client.Quota {
		body.Remaining = "0"
	}
	return append(b, marshal(body)...)
}

// retryAfter is the value of Retry-After: whole seconds, 1 at least.
func retryAfter(wait time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(wait.Seconds()))))
}

// marshal is json.Marshal without the escaping of HTML, for values that always marshal.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // structs of strings and numbers only
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

var (
	noOperation = refusal(client.Rejected, http.StatusNotFound, 0, fmt.Sprintf("there is no such operation; there are %s, %s and %s", UsagePath, WebsitePath, ProductPath))
	wrongKey    = refusal(client.Auth, http.StatusUnauthorized, 0, "the x-api-key header must carry a valid API key")
	tooBusy     = refusal(client.Transient, http.StatusServiceUnavailable, time.Second, "as many requests as the service takes are in flight; try again")
	canceled    = refusal(client.Transient, http.StatusServiceUnavailable, 0, "the request was canceled before its answer was ready")
	crowded     = refusal(client.Transient, http.StatusServiceUnavailable, patience, "too many requests need pages of this host at once")
)

func refusal(class client.Class, status int, wait time.Duration, message string) *client.Error {
	return &client.Error{Class: class, Status: status, RetryAfter: wait, Detail: message}
}

func wrongMethod(allow []string) error {
	return refusal(client.Fatal, http.StatusMethodNotAllowed, 0, "use "+strings.Join(allow, " or "))
}

// noQuota: refill is the time until the quota is renewed; 0 for never.
func noQuota(refill time.Duration) error {
	return refusal(client.Quota, http.StatusPaymentRequired, refill, "the quota of this API key is used up")
}

// tooFast does not say "quota": clients would conclude that the quota is used up, and not wait.
func tooFast(wait time.Duration) error {
	return refusal(client.Transient, http.StatusTooManyRequests, max(wait, 1), "this API key asks faster than it may; slow down")
}

func missing(param string) error { return malformed(fmt.Sprintf("the parameter %q is missing", param)) }

func malformed(message string) error {
	return refusal(client.Rejected, http.StatusBadRequest, 0, message)
}

func tooLong(status int) error {
	return refusal(client.Rejected, status, 0, fmt.Sprintf("an input may have %d bytes at most", maxInput))
}

func noClassification(name string, served []*classification) error {
	names := make([]string, len(served))
	for i, c := range served {
		names[i] = c.name
	}
	return refusal(client.Rejected, http.StatusNotFound, 0, fmt.Sprintf("this operation has no classification %.64q; it has %s", name, strings.Join(names, " and ")))
}
