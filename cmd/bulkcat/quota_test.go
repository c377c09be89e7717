package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
)

// TestFinalQuota wants of the summary what is left after the run.
func TestFinalQuota(t *testing.T) {
	for name, tt := range map[string]struct{ before, after, want string }{
		"a number":            {"99752", "95752", `^95752 left$`},
		"nothing is left":     {"1000", "0", `^0 left$`},
		"it is not a number":  {"unlimited", "unlimited", `^unlimited left$`},
		"it becomes a number": {"unlimited", "500", `^500 left$`},
		"usage fails":         {"99752", "", `^99752 left [0-9]+s ago$`},
	} {
		t.Run(name, func(t *testing.T) {
			remaining := tt.before
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if remaining == "" {
					w.WriteHeader(http.StatusInternalServerError)
				}
				_, _ = io.WriteString(w, `{"plan":"trial","remaining":"`+remaining+`"}`)
			}))
			defer server.Close()
			c, err := client.New(client.Options{BaseURL: server.URL, APIKey: testKey})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			q := newQuota(service{HTTP: c, hosted: true}, new(pipeline.Counters), slog.New(slog.DiscardHandler))
			if err := q.check(t.Context()); err != nil {
				t.Fatal(err)
			}
			remaining = tt.after
			if got := q.final(); !regexp.MustCompile(tt.want).MatchString(got) {
				t.Errorf("got %q, want %s", got, tt.want)
			}
		})
	}
	if got := newQuota(service{}, nil, nil).final(); got != "" {
		t.Errorf("the embedded service has %q", got)
	}
}

// TestQuotaMeanwhile wants of the bar what is left now, though the service was asked before.
func TestQuotaMeanwhile(t *testing.T) {
	counters := new(pipeline.Counters)
	q := newQuota(service{}, counters, nil)
	counters.Requests.Store(100)
	q.usage, q.answers = client.Usage{Remaining: "99,752"}, answered(counters.Snapshot())
	counters.Requests.Store(4_000)
	counters.InFlight.Store(10)
	counters.Transient.Store(5)
	if left, ok := q.left(); left != 99_752-3_885 || !ok {
		t.Errorf("got %d, %v", left, ok)
	}
	q.usage.Remaining = "100"
	if left, _ := q.left(); left != 0 {
		t.Errorf("got %d of an account with less than was used", left)
	}
	q.usage.Remaining = "unlimited"
	if _, ok := q.left(); ok {
		t.Error("a word is a number")
	}
}
