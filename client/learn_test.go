package client_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// TestPacerLearnsTheLimit: the limit is not known to the client. A high one shows that it
// gathers speed soon enough; the styles differ in how it is told off.
func TestPacerLearnsTheLimit(t *testing.T) {
	for _, tt := range []struct {
		style clienttest.Style
		limit int // requests a second
	}{{clienttest.Body, 300}, {clienttest.UnixTime, 100}, {clienttest.IETF, 100}} {
		t.Run("retry after "+string(tt.style), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit := float64(tt.limit)
				x := simulate(t, clienttest.Options{Rate: limit, Bucket: tt.limit / 10, RetryAfter: tt.style, Latency: 50 * time.Millisecond, Jitter: 40 * time.Millisecond},
					client.PacerOptions{InFlight: 64}, 30*time.Second)
				x.check(t, limit, 0.95, 0.01)
			})
		})
	}
}

type simulation struct {
	audit clienttest.Audit
	start time.Time
	took  time.Duration
}

// simulate asks as fast as the pacer allows for a while.
func simulate(t *testing.T, service clienttest.Options, pace client.PacerOptions, d time.Duration) simulation {
	server := clienttest.New(service)
	transport, close := server.Pipe()
	c, err := client.New(client.Options{BaseURL: "http://service", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	pacer := client.NewPacer(pace)
	start := time.Now()
	var n atomic.Int64
	var workers sync.WaitGroup
	for range pace.InFlight {
		workers.Go(func() {
			for time.Since(start) < d {
				turn, err := pacer.Wait(t.Context())
				if err != nil {
					return
				}
				request := client.Request{Kind: client.Product, Input: fmt.Sprint("title ", n.Add(1)), Classification: client.ProductTaxonomy}
				turn.Done(c.Categorize(t.Context(), request))
			}
		})
	}
	workers.Wait()
	x := simulation{server.Audit(), start, time.Since(start)}
	c.Close()
	close()
	return x
}

func (x simulation) check(t *testing.T, limit, used, refused float64) {
	t.Helper()
	late := 0
	for _, at := range x.audit.Arrivals {
		if at.Sub(x.start) > 10*time.Second {
			late++
		}
	}
	share := float64(x.audit.Refused) / float64(len(x.audit.Arrivals))
	use := float64(x.audit.Answers) / limit / x.took.Seconds()
	useLate := float64(late) / limit / (x.took - 10*time.Second).Seconds()
	t.Logf("%d requests in %v: %.1f%% of the limit, %.1f%% after 10 s, %.2f%% refused", len(x.audit.Arrivals), x.took, 100*use, 100*useLate, 100*share)
	if useLate < used || share > refused {
		t.Errorf("want at least %.0f%% and at most %.1f%%", 100*used, 100*refused)
	}
}
