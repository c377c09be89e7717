package clienttest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// A client understands the wait of a 429 in every style, and the rate in the headers.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		style clienttest.Style
		waits bool
	}{
		{clienttest.Absent, false}, {clienttest.Seconds, true}, {clienttest.Date, true},
		{clienttest.Body, true}, {clienttest.UnixTime, true}, {clienttest.IETF, true},
	} {
		t.Run(string(tt.style), func(t *testing.T) {
			t.Parallel()
			baseURL, stop := clienttest.New(clienttest.Options{Limiter: &clienttest.Bucket{Rate: 0.1}, Refusal: clienttest.Refusal{Style: tt.style}}).Listen()
			defer stop()
			err := ask(t, baseURL)
			var e *client.Error
			if !errors.As(err, &e) || e.Status != 429 || (e.RetryAfter > 5*time.Second) != tt.waits {
				t.Errorf("got %+v", err)
			}
		})
	}
	baseURL, stop := clienttest.New(clienttest.Options{Limiter: &clienttest.Bucket{Rate: 10}, Refusal: clienttest.Refusal{Style: clienttest.IETF}}).Listen()
	defer stop()
	var e *client.Error
	if err := ask(t, baseURL); !errors.As(err, &e) || e.Limit.PerSecond != 10 {
		t.Errorf("got %+v", err)
	}
}

// ask sends one request and returns its error.
func ask(t *testing.T, baseURL string) error {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: baseURL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Attempt(t.Context(), client.Request{Kind: client.Product, Input: "drill", Classification: client.ProductTaxonomy})
	return err
}
