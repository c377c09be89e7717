package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// odd is a service that answers with a byte order mark, with confidences in strings, and with an unusual value of
// the remaining quota. After its first responses the service sends more bytes, with the key in them.
type odd struct {
	remaining string // in JSON
	requests  atomic.Int64
}

// unasked is the number of responses that are followed by more bytes.
const unasked = 5

func (s *odd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := fmt.Sprintf(`{%q:[{"value":"A > B","confidence":"0.83"},{"value":"C","confidence":"high"}]}`, r.URL.Query().Get("classification"))
	if r.URL.Path == "/api/usage" {
		body = fmt.Sprintf(`{"plan":"pro","remaining":%s}`, s.remaining)
	}
	body = "\ufeff" + body
	if s.requests.Add(1) > unasked {
		fmt.Fprint(w, body)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sunasked for %s", len(body), body, r.Header.Get("X-Api-Key"))
	_, _ = conn.Read(make([]byte, 1)) // until the client has seen them and hangs up
}

// cmdOdd starts the service.
func cmdOdd(ts *testscript.TestScript, _ bool, args []string) {
	server := httptest.NewServer(&odd{remaining: strings.Join(args, " ")})
	ts.Defer(server.Close)
	ts.Setenv("BULKCAT_BASE_URL", server.URL)
	ts.Setenv("BULKCAT_API_KEY", ts.Getenv("KEY"))
}
