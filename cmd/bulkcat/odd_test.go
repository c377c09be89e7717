package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

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

func TestLibraryLog(t *testing.T) {
	for name, tt := range map[string]struct{ message, want string }{
		"quoted":             {`response starting with "key: the-key\n"; err=<nil>`, `response starting with "..."; err=<nil>`},
		"quotes within":      {`starting with "\"the-key\\"; more`, `starting with "..."; more`},
		"a quote that stays": {`starting with "the-k`, `starting with "..."`},
		"bare":               {"invalid header: the-key", "invalid header: [secret]"},
		"nothing":            {"Error enabling HTTP/2 support\n", "Error enabling HTTP/2 support"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			options := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key != "message" {
					return slog.Attr{}
				}
				return a
			}}
			l := libraryLog{slog.New(slog.NewTextHandler(&out, options)), strings.NewReplacer("the-key", "[secret]").Replace}
			if _, err := l.Write([]byte(tt.message)); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("message=%q\n", tt.want); out.String() != want {
				t.Errorf("got %s, want %s", out.String(), want)
			}
		})
	}
}
