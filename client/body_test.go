package client

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestBodyTooLarge(t *testing.T) {
	padding := strings.Repeat(" ", 1<<20)
	for _, tt := range []struct {
		name     string
		megabyte int
		want     error
	}{{"up to 8 MiB", 7, nil}, {"over 8 MiB", 9, errBodyTooLarge}} {
		t.Run(tt.name, func(t *testing.T) {
			c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				for range tt.megabyte {
					io.WriteString(w, padding)
				}
				io.WriteString(w, soundAnswer)
			}, nil)
			if _, err := c.exchange(t.Context(), testRequest); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// TestStatusCountsWhateverTheBody has error bodies that are endless, or break off.
func TestStatusCountsWhateverTheBody(t *testing.T) {
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
	}{
		{"huge", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(402)
			for range 20 {
				io.WriteString(w, strings.Repeat("x", 1<<20))
			}
		}},
		{"truncated", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(402)
			io.WriteString(w, `{"error":`)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := setup(t, tt.handler, nil)
			if _, err := c.exchange(t.Context(), testRequest); ClassOf(err) != Quota || len(err.Error()) > 400 {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestByteOrderMark(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		entry  string
		err    string
	}{
		{"answer", 200, soundAnswer, "A > B", ""},
		{"error", 422, `{"error":{"message":"no such site"}}`, "", "HTTP 422 Unprocessable Entity: no such site"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				io.WriteString(w, "\ufeff"+tt.body)
			}, nil)
			answer, err := c.exchange(t.Context(), testRequest)
			if err == nil && (answer.Entries[0].Value != tt.entry || string(answer.Body) != tt.body) || err != nil && err.Error() != tt.err {
				t.Errorf("got %+v, %v", answer, err)
			}
		})
	}
}

func TestLargeErrorsKeepTheConnection(t *testing.T) {
	asked := 0
	addresses := make(map[string]bool)
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr] = true
		if asked++; asked%2 == 0 {
			io.WriteString(w, soundAnswer)
			return
		}
		w.WriteHeader(503)
		io.WriteString(w, strings.Repeat("x", 200_000))
	}, nil)
	for range 10 {
		c.exchange(t.Context(), testRequest)
	}
	if len(addresses) != 1 {
		t.Errorf("%d connections for %d requests in turn", len(addresses), asked)
	}
}

func TestSnippet(t *testing.T) {
	c, err := New(Options{BaseURL: "https://api.example.com", APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 200)
	for _, tt := range []struct{ name, body, want string }{
		{"empty", "", ""},
		{"message", `{"message":"no such site"}`, "no such site"},
		{"nested", `{"error":{"detail":"no such site"}}`, "no such site"},
		{"text", "Bad\r\n\tGateway ", "Bad Gateway"},
		{"terminal escapes", "a\x1b[2Jb\x00c", "a [2Jb c"},
		{"not UTF-8", "a\xff", "a\ufffd"},
		{"long", long, strings.Repeat("é", 120) + "…"},
		{"key", "bad key " + testKey, "bad key [secret]"},
		{"key where the text is cut", strings.Repeat(" ", 8192-5) + testKey, "[secr"},
		{"HTML", "<html><head><style>a{b:c}</style></head><body>\n<h1>Too <b>many</b></h1><!-- x --><p>1 < 2", "Too many 1 < 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := c.snippet([]byte(tt.body)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
