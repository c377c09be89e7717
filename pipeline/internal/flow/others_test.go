package flow

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
)

// If a rejection and the tasks of other processes are all that is left, the rejection does not wait for these: two processes
// would wait for each other. That may show only when the tasks have been looked up and wait again.
func TestRejectionsDoNotWaitForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, t.TempDir())
		defer store.Close()
		r := &run{
			Parts:      Parts{Store: store, Counters: new(progress.Counters), Limits: limits.New(limits.Options{Rate: math.Inf(1)}, time.Now())}.withDefaults(),
			options:    newTestRun().options.withDefaults(),
			work:       make(chan *task),
			sends:      make(chan send),
			joins:      joins{asked: make(map[client.Request]*task)},
			others:     others{wake: make(chan struct{}, 1)},
			completion: completion{wake: make(chan struct{}, 1)},
			standing:   new(client.Standing),
		}
		r.dispatcher = ask.NewDispatcher(r, r.Limits)
		r.asked, r.allAsked = context.WithCancel(t.Context())
		defer r.allAsked()
		go r.ask()
		synctest.Wait()
		r.open.Store(2)
		r.rejections.unconfirmed.Hold(&task{err: &client.Error{Class: client.Rejected, Status: 404, Detail: "the product is unknown"}})
		r.others.put(&task{claimed: time.Now(), Attempts: ask.Attempts{Request: client.Request{Kind: client.Product, Input: "title 2"}}})
		if _, err := r.lookUpOthers(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := r.rejections.unconfirmed.Len(); n != 0 || r.open.Load() != 1 {
			t.Errorf("%d rejections wait, %d tasks are open", n, r.open.Load())
		}
	})
}
