package flow

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
)

// While a commit takes long and many outcomes wait for the next one, no request is sent: a kill would lose its answer.
func TestASlowCommitHoldsRequestsBack(t *testing.T) {
	for _, tt := range []struct {
		name    string
		began   time.Duration // of the commit, before; 0 for none
		waiting int           // outcomes, of 8 requests that may be in flight
		stops   bool          // the run is to stop a second later
		want    time.Duration
	}{
		{"no commit", 0, 8, false, 0},
		{"a short one", slowCommit / 2, 8, false, 0},
		{"a long one", 2 * slowCommit, 8, false, time.Minute},
		{"a long one, and few outcomes wait", 2 * slowCommit, 7, false, 0},
		{"a long one, and the run stops", 2 * slowCommit, 8, true, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &run{Parts: Parts{Limits: limits.New(limits.Options{InFlight: 8}, time.Now())}, commits: make(chan *task, commitBounds.Outcomes)}
				for range tt.waiting {
					r.commits <- new(task)
				}
				var stop context.CancelFunc
				r.asked, stop = context.WithCancel(t.Context())
				defer stop()
				began := time.Now()
				if tt.began > 0 {
					c := &committing{began.Add(-tt.began), make(chan struct{})}
					r.committing.Store(c)
					time.AfterFunc(time.Minute, func() { close(c.done) })
				}
				if tt.stops {
					time.AfterFunc(time.Second, stop)
				}
				if r.awaitCommit(); time.Since(began) != tt.want {
					t.Errorf("held back for %v, want %v", time.Since(began), tt.want)
				}
			})
		})
	}
}
