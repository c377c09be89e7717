package embedded

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// requestIDHeader is X-Request-ID as net/http spells it. A client may set the id of its request. The response and the log have
// the same id.
const requestIDHeader = "X-Request-Id"

// maxRequestID is the most bytes of an id; a W3C traceparent has 55.
const maxRequestID = 128

// requestIDs generates ids from a random word of the process and a number.
type requestIDs struct {
	process string
	last    atomic.Uint64
}

func newRequestIDs() *requestIDs {
	return &requestIDs{process: strings.ToLower(rand.Text()[:10]) + "-"} // 50 bits
}

// of returns the request's own id if it can be logged unquoted, or else a new id.
func (ids *requestIDs) of(r *http.Request) string {
	if id := r.Header.Get(requestIDHeader); isRequestID(id) {
		return id
	}
	return ids.process + strconv.FormatUint(ids.last.Add(1), 10)
}

func isRequestID(id string) bool { return isPlain(id, "._:/+=@-", maxRequestID) }

// isPlain reports whether a text has 1 to most bytes, all of them ASCII letters, digits or marks.
func isPlain(text, marks string, most int) bool {
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(marks, c))
	})
}
