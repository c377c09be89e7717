package progress

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

// TestFinalQuota asks how much quota is left after the run.
func TestFinalQuota(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after, want string
		late                bool // the service does not say after the run
	}{
		"a number":            {"99752", "95752", "95752", false},
		"nothing is left":     {"1000", "0", "0", false},
		"it is not a number":  {"unlimited", "unlimited", "unlimited", false},
		"it becomes a number": {"unlimited", "500", "500", false},
		"usage fails":         {"99752", "", "99752", true},
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
			c, err := client.New(client.Options{BaseURL: server.URL, APIKey: "key"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			q := NewQuota(new(client.Standing), c.Usage, true, slog.New(slog.DiscardHandler))
			if err := q.Check(t.Context(), nil, ""); err != nil {
				t.Fatal(err)
			}
			remaining = tt.after
			if got, since := q.Final(true); got.Remaining != tt.want || (since > 0) != tt.late {
				t.Errorf("got %q, %v ago; want %q", got.Remaining, since, tt.want)
			}
		})
	}
	if got, _ := NewQuota(nil, nil, false, nil).Final(true); got != (client.Usage{}) {
		t.Errorf("the embedded service has %v", got)
	}
}

// answering is a service that answers, or rejects.
type answering struct{ err error }

func (a *answering) Attempt(context.Context, client.Request) (client.Answer, error) {
	return client.Answer{}, a.err
}

// TestQuotaMeanwhile subtracts the answers since the service told its quota.
func TestQuotaMeanwhile(t *testing.T) {
	for name, tt := range map[string]struct {
		remaining string
		left      int64
		isNumber  bool
	}{
		"a number":       {"99,752", 99_742, true},
		"less than used": {"7", 0, true},
		"a word":         {"unlimited", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			service := new(answering)
			standing, observed, usage := client.Observe(service, func(context.Context) (client.Usage, error) { return client.Usage{Remaining: tt.remaining}, nil })
			q := NewQuota(standing, usage, true, slog.New(slog.DiscardHandler))
			ask := func(times int) {
				for range times {
					_, _ = observed.Attempt(t.Context(), client.Request{}) // the error is that of service
				}
			}
			ask(5)
			if err := q.Check(t.Context(), nil, ""); err != nil {
				t.Fatal(err)
			}
			ask(10)
			service.err = &client.Error{Class: client.Rejected} // costs nothing
			ask(3)
			if left := q.Left(true); (left != nil) != tt.isNumber || left != nil && *left != tt.left {
				t.Errorf("got %v, want %d", left, tt.left)
			}
		})
	}
}
