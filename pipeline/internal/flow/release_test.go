package flow

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
)

// A task that is written and released is of no further use to those that had it before. The race detector sees if it is.
func TestReleasedTasksAreNotRead(t *testing.T) {
	for name, test := range map[string]func(t *testing.T){
		"a rejection that an answer confirms at once": func(t *testing.T) {
			r := &run{Parts: Parts{Counters: new(progress.Counters)}.withDefaults(), standing: new(client.Standing)}
			var group sync.WaitGroup
			group.Go(func() {
				for r.rejections.unconfirmed.Len() < firstSeries {
					runtime.Gosched()
				}
				for _, held := range r.rejections.unconfirmed.TakeAll() {
					held.release()
				}
			})
			e := &client.Error{Class: client.Rejected, Status: 404, Detail: "the product is unknown"}
			for range firstSeries {
				if err := r.hold(new(task), e); err != nil {
					t.Fatal(err)
				}
			}
			group.Wait()
		},
		"a retry whose wait the response had named": func(t *testing.T) {
			now := time.Now()
			service := limits.New(limits.Options{Rate: math.Inf(1)}, now)
			e := &client.Error{Class: client.Transient, Status: 429, RetryAfter: time.Hour}
			var parked ask.Parked[*task]
			var tasks [2]task // the first stays parked
			for i := range tasks {
				tasks[i].Fail(now, e, client.DefaultRetryPolicy())
				parked.Park(&tasks[i])
				e = &client.Error{Class: client.Transient, Status: 429, RetryAfter: time.Minute}
			}
			if done, _ := parked.Take(); done != &tasks[1] {
				t.Fatal("the later one was taken")
			}
			var group sync.WaitGroup
			group.Go(tasks[1].release)
			sent := now.Add(time.Second)
			permit := service.Next(sent, limits.Queue{First: true}).Permit
			service.End(sent, permit, limits.Result{Signal: limits.Answered})
			parked.Decide(sent, service, limits.Queue{})
			group.Wait()
		},
	} {
		t.Run(name, test)
	}
}
