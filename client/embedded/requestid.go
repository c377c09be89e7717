package embedded

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// requestIDHeader is X-Request-ID as net/http spells it: a client may name its
// request, and a response says how the request is named in the log.
const requestIDHeader = "X-Request-Id"

// maxRequestID is enough for any scheme in use (a trace of W3C has 55 bytes).
const maxRequestID = 128

// requestIDs names requests: a random word for the process, and a number.
type requestIDs struct {
	process string
	last    atomic.Uint64
}

func newRequestIDs() *requestIDs {
	return &requestIDs{process: strings.ToLower(rand.Text()[:10]) + "-"} // 50 bits
}

// of is the request's own id, if it has one that can be logged and sent back as
// it is, or else a new one.
func (ids *requestIDs) of(r *http.Request) string {
	if id := r.Header.Get(requestIDHeader); isRequestID(id) {
		return id
	}
	return ids.process + strconv.FormatUint(ids.last.Add(1), 10)
}

func isRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("._:/+=@-", c) >= 0:
		default:
			return false
		}
	}
	return true
}
