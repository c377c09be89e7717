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

// slowService answers request i after waits[i].
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

// Each attempt has its own timeout, and its context ends with the attempt.
func TestAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowService{waits: []time.Duration{8 * time.Second, 8 * time.Second, 20 * time.Second, 8 * time.Second}}
		c, err := New(Options{BaseURL: "https://api.example.com", Transport: service, Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i, wait := range service.waits {
			_, err := c.exchange(t.Context(), testRequest)
			if late := wait > 10*time.Second; late != (err != nil) || late && !strings.Contains(err.Error(), "did not answer within") {
				t.Errorf("attempt %d of %v: %v", i, wait, err)
			}
			if service.ctxs[i].Err() == nil {
				t.Errorf("the context of attempt %d has outlived the attempt", i)
			}
		}
	})
}

// The error of a caller that has ended is the caller's, not an *Error.
func TestCallerEnds(t *testing.T) {
	c, err := New(Options{BaseURL: "https://api.example.com", Transport: &slowService{waits: []time.Duration{time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.exchange(ctx, testRequest); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
