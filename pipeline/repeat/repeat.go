// Package repeat calls a function again and again, for the bars, pages and files that show a run while it goes on.
package repeat

import (
	"sync"
	"time"
)

// Every calls do after each interval in a goroutine, until stop is called. stop waits for the end of do, and may be called again.
func Every(interval time.Duration, do func()) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				do()
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}
