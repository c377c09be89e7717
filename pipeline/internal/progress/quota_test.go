package progress

import (
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
			q := NewQuota(c.Usage, true, new(Counters), slog.New(slog.DiscardHandler))
			if err := q.Check(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			remaining = tt.after
			if got, since := q.Final(true); got.Remaining != tt.want || (since > 0) != tt.late {
				t.Errorf("got %q, %v ago; want %q", got.Remaining, since, tt.want)
			}
		})
	}
	if got, _ := NewQuota(nil, false, nil, nil).Final(true); got != (client.Usage{}) {
		t.Errorf("the embedded service has %v", got)
	}
}

// TestQuotaMeanwhile subtracts the answers since the service told its quota.
func TestQuotaMeanwhile(t *testing.T) {
	counters := new(Counters)
	q := NewQuota(nil, false, counters, nil)
	counters.Requests.Store(100)
	q.usage, q.answers = client.Usage{Remaining: "99,752"}, answersOf(counters.Snapshot())
	counters.Requests.Store(4_000)
	counters.InFlight.Store(10)
	counters.Transient.Store(5)
	if left, ok := q.Left(true); left != 99_752-3_885 || !ok {
		t.Errorf("got %d, %v", left, ok)
	}
	q.usage.Remaining = "100"
	if left, _ := q.Left(true); left != 0 {
		t.Errorf("got %d of a quota of less than was used", left)
	}
	q.usage.Remaining = "unlimited"
	if _, ok := q.Left(true); ok {
		t.Error("a word is a number")
	}
}
