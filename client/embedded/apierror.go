package embedded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// apiError is an error response of the service.
type apiError struct {
	Status    int
	Message   string
	Remaining string        // "0" when the quota is used up
	Wait      time.Duration // for Retry-After; 0 for none
}

// append appends the body to b; request is the request's id, or "".
func (e *apiError) append(b []byte, request string) []byte {
	type detail struct {
		Status  int    `json:"status"`
		Message string `json:"message"`
		Request string `json:"request_id,omitempty"`
	}
	body := struct {
		Error     detail `json:"error"`
		Remaining string `json:"remaining,omitempty"`
	}{detail{e.Status, e.Message, request}, e.Remaining}
	return append(b, marshal(body)...)
}

// retryAfter is the value of Retry-After: whole seconds, 1 at least.
func (e *apiError) retryAfter() string {
	return strconv.Itoa(max(1, int(math.Ceil(e.Wait.Seconds()))))
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
	noOperation = &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf(
		"there is no such operation; there are %s, %s and %s", UsagePath, WebsitePath, ProductPath)}
	wrongKey = &apiError{Status: http.StatusUnauthorized, Message: "the x-api-key header must carry a valid API key"}
	tooBusy  = &apiError{Status: http.StatusServiceUnavailable, Message: "as many requests as the service takes are in flight; try again", Wait: time.Second}
	canceled = &apiError{Status: http.StatusServiceUnavailable, Message: "the request was canceled before its answer was ready"}
	crowded  = &apiError{Status: http.StatusServiceUnavailable, Message: "too many requests need pages of this host at once", Wait: patience}
)

func wrongMethod(allow []string) *apiError {
	return &apiError{Status: http.StatusMethodNotAllowed, Message: "use " + strings.Join(allow, " or ")}
}

// noQuota: refill is the time until the quota is renewed; 0 for never.
func noQuota(refill time.Duration) *apiError {
	return &apiError{Status: http.StatusPaymentRequired, Message: "the quota of this API key is used up", Remaining: "0", Wait: refill}
}

// tooFast does not say "quota": clients would conclude that the quota is used up, and not wait.
func tooFast(wait time.Duration) *apiError {
	return &apiError{Status: http.StatusTooManyRequests, Message: "this API key asks faster than it may; slow down", Wait: max(wait, 1)}
}

func missing(param string) *apiError {
	return malformed(fmt.Sprintf("the parameter %q is missing", param))
}

func malformed(message string) *apiError {
	return &apiError{Status: http.StatusBadRequest, Message: message}
}

func tooLong(status int) *apiError {
	return &apiError{Status: status, Message: fmt.Sprintf("an input may have %d bytes at most", maxInput)}
}

func noClassification(name string, served []*classification) *apiError {
	names := make([]string, len(served))
	for i, c := range served {
		names[i] = c.name
	}
	return &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf(
		"this operation has no classification %.64q; it has %s", name, strings.Join(names, " and "))}
}
