package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
)

// TestForecast asks what is left before and after a million answers.
func TestForecast(t *testing.T) {
	for name, tt := range map[string]struct{ before, after, want string }{
		"each costs one":      {"5000000", "4000000", "4000000 (for about 4000000 more requests)"},
		"each costs two":      {"5000000", "3000000", "3000000 (for about 1500000 more requests)"},
		"nothing is charged":  {"5000000", "5000000", "5000000"},
		"hardly anything":     {"5000000", "4999990", "4999990"},
		"nothing is left":     {"1000000", "0", "0 (for about 0 more requests)"},
		"it is not a number":  {"unlimited", "unlimited", "unlimited"},
		"it becomes a number": {"unlimited", "500", "500 (for about 500 more requests)"},
	} {
		t.Run(name, func(t *testing.T) {
			remaining := tt.before
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"plan":"trial","remaining":"`+remaining+`"}`)
			}))
			defer server.Close()
			c, err := client.New(client.Options{BaseURL: server.URL, APIKey: testKey})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			counters := new(pipeline.Counters)
			q := newQuota(service{HTTP: c, hosted: true}, counters, nil)
			if err := q.sample(t.Context()); err != nil {
				t.Fatal(err)
			}
			counters.Requests.Store(1_000_000)
			remaining = tt.after
			if err := q.sample(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := q.forecast(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
