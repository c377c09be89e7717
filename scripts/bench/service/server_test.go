package service

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// TestClientIsAnswered holds the service against the client that it is made for.
func TestClientIsAnswered(t *testing.T) {
	c, err := client.New(client.Options{BaseURL: listen(t, Options{}), APIKey: "key"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	usage, err := c.Usage(t.Context())
	if left, ok := usage.Requests(); err != nil || !ok || left < 1e9 {
		t.Errorf("usage: %+v, %v", usage, err)
	}
	requests := []client.Request{
		{Kind: client.Website, Input: "https://www.shop-1.example", Classification: client.TaxonomyV3},
		{Kind: client.Product, Input: "Kettle, 1.7 l & steel", Classification: client.ProductTaxonomy},
	}
	for _, r := range requests {
		answer, err := c.Categorize(t.Context(), r)
		if err != nil {
			t.Errorf("%+v: %v", r, err)
			continue
		}
		want, err := client.ParseAnswer(AppendAnswer(nil, r.Classification, r.Input), r.Classification)
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Entries) != entries || answer.Entries[0] != want.Entries[0] {
			t.Errorf("%+v: got %+v, want %+v", r, answer.Entries, want.Entries)
		}
	}
}

func TestAnswersAreTypical(t *testing.T) {
	var all strings.Builder
	const n = 1000
	distinct := make(map[string]bool)
	for i := range n {
		body := string(AppendAnswer(nil, client.TaxonomyV3, strings.Repeat("x", i)))
		distinct[body] = true
		all.WriteString(body)
		answer, err := client.ParseAnswer([]byte(body), client.TaxonomyV3)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range answer.Entries {
			if e.Confidence <= 0 || e.Confidence >= 1 {
				t.Errorf("a confidence of %v in %s", e.Confidence, body)
			}
		}
	}
	if bytes := all.Len() / n; bytes < 180 || bytes > 320 {
		t.Errorf("an answer has %d bytes on average, not some 250", bytes)
	}
	if len(distinct) < n*99/100 {
		t.Errorf("of %d answers only %d differ", n, len(distinct))
	}
}

func TestUnknownPath(t *testing.T) {
	resp, err := http.Get(listen(t, Options{}) + "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %s", resp.Status)
	}
}

// TestHostileRequests ends the connection, and nothing else.
func TestHostileRequests(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":     "",
		"cut short":   "GET /api/us",
		"without end": "GET /api/usage HTTP/1.1\r\nHost: x\r\n",
		"too long":    "GET /" + strings.Repeat("x", 1<<16) + " HTTP/1.1\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			ended := make(chan struct{})
			go func() { defer close(ended); newSession(theirs, Options{}, 1).serve() }()
			go func() { io.WriteString(ours, text); ours.Close() }()
			<-ended
		})
	}
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(nil, Options{Latency: 50 * time.Millisecond, Spread: 20 * time.Millisecond}, 1)
		var least, most, sum time.Duration = time.Hour, 0, 0
		const n = 1000
		for range n {
			began := time.Now()
			s.respond("/api/v1/website/categorization?url=x&classification=taxonomy_v3")
			took := time.Since(began)
			least, most, sum = min(least, took), max(most, took), sum+took
		}
		if least < 30*time.Millisecond || least > 31*time.Millisecond || most > 70*time.Millisecond || most < 69*time.Millisecond {
			t.Errorf("between %v and %v", least, most)
		}
		if mean := sum / n; mean < 48*time.Millisecond || mean > 52*time.Millisecond {
			t.Errorf("%v on average", mean)
		}
	})
}

func listen(t *testing.T, options Options) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go Serve(l, options)
	return "http://" + l.Addr().String()
}
