package service

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Usage is the answer of the usage operation: an account that can pay any measurement. The
// number of requests left is a string, as the interface has it.
const Usage = `{"plan":"benchmark","remaining":"1000000000"}`

// appendBody appends the body that answers a request, and gives the status with it. It
// takes as long as the latency of the operation.
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

// parameter gives the value of one parameter, "" if it is not there; net/url would make
// a map of all.
func parameter(query, name string) string {
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key == name {
			text, _ := url.QueryUnescape(value) // "" where it is no value
			return text
		}
	}
	return ""
}
