package service

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Usage is the answer of the usage operation: a quota for any measurement. The number of requests
// left is a string, as in the interface.
const Usage = `{"plan":"benchmark","remaining":"1000000000"}`

// appendBody waits for the latency of the operation, appends the body of the answer to dst, and
// returns the body with its status.
func (o Options) appendBody(dst []byte, path, query string) (body []byte, status int) {
	switch path {
	case "/api/usage":
		return append(dst, Usage...), http.StatusOK
	case "/api/v1/website/categorization":
		return o.appendCategories(dst, query, "url"), http.StatusOK
	case "/api/v1/product/categorization":
		return o.appendCategories(dst, query, "query"), http.StatusOK
	}
	return append(dst, "{}"...), http.StatusNotFound
}

func (o Options) appendCategories(dst []byte, query, name string) []byte {
	time.Sleep(o.delay())
	return AppendAnswer(dst, parameter(query, "classification"), parameter(query, name))
}

func (o Options) delay() time.Duration {
	if o.Spread <= 0 {
		return o.Latency
	}
	return o.Latency - o.Spread + rand.N(2*o.Spread)
}

// parameter returns the value of one parameter, "" if it is missing, without the map of net/url.
func parameter(query, name string) string {
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key == name {
			text, _ := url.QueryUnescape(value) // "" if malformed
			return text
		}
	}
	return ""
}
