package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// soundTransport gives a sound answer to each request.
type soundTransport struct{}

func (soundTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ContentLength: int64(len(soundAnswer)), Body: io.NopCloser(strings.NewReader(soundAnswer))}, nil
}

// One attempt, without the network.
func BenchmarkAttempt(b *testing.B) {
	c, err := New(Options{BaseURL: "http://service.example", Transport: soundTransport{}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		answer, err := c.Attempt(b.Context(), testRequest)
		if err != nil {
			b.Fatal(err)
		}
		Release(&answer)
	}
}
