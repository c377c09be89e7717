package client

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowService answers after a time that the requests have in their order.
type slowService struct {
	waits []time.Duration
	ctxs  []context.Context
}

func (s *slowService) RoundTrip(req *http.Request) (*http.Response, error) {
	wait := s.waits[len(s.ctxs)]
	s.ctxs = append(s.ctxs, req.Context())
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(soundAnswer))}, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// TestAttemptsShareTheirContext asks one after the other: a context serves until an attempt
// with it takes too long, and each attempt has all of its time.
func TestAttemptsShareTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowService{waits: []time.Duration{8 * time.Second, 8 * time.Second, 20 * time.Second, 8 * time.Second, 8 * time.Second}}
		c, err := New(Options{BaseURL: "https://api.example.com", Transport: service, Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i, wait := range service.waits[:4] {
			_, err := c.Categorize(t.Context(), testRequest)
			if late := wait > 10*time.Second; late != (err != nil) || late && !strings.Contains(err.Error(), "in time") {
				t.Errorf("attempt %d of %v: %v", i, wait, err)
			}
		}
		if service.ctxs[0] != service.ctxs[1] || service.ctxs[1] != service.ctxs[2] || service.ctxs[2] == service.ctxs[3] {
			t.Error("a context that is whole is to serve again, and no other")
		}
		other, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Categorize(other, testRequest); err != context.Canceled {
			t.Errorf("of another caller, who has gone: %v", err)
		}
		c.Close()
		if service.ctxs[3].Err() == nil {
			t.Error("a context has outlived the client")
		}
	})
}
