package notify

import "time"

// watchInterval is the time from one look at a run to the next.
const watchInterval = time.Second

// Snapshot is what Watch looks at in a run.
type Snapshot struct {
	Outages int64 // of the service, since the run began
	Metered bool  // Quota is known
	Quota   int64 // requests that are left
	Facts   Facts
}

// Watch posts an event for each new outage, and one event when the share of the quota in [Occasions] is used. It
// calls look once a second, in a goroutine of its own, until the caller calls end, which looks once more. Watch
// starts no goroutine if no such event is wanted. A nil Notifier posts nothing.
func (n *Notifier) Watch(look func() Snapshot) (end func()) {
	if n == nil || !n.options.On.Outage && n.options.On.Quota == 0 {
		return func() {}
	}
	w := watch{notifier: n, first: look()}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				w.see(look())
			case <-done:
				w.see(look()) // a short run ends before the first tick
				return
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

// watch has the events that were posted.
type watch struct {
	notifier *Notifier
	first    Snapshot
	outages  int64
	quota    bool
}

func (w *watch) see(s Snapshot) {
	for ; w.outages < s.Outages; w.outages++ {
		w.notifier.Post(Outage, s.Facts)
	}
	share := w.notifier.options.On.Quota
	metered := share > 0 && w.first.Metered && w.first.Quota > 0 && s.Metered
	if used := float64(w.first.Quota - s.Quota); !w.quota && metered && used >= share*float64(w.first.Quota) {
		w.quota = true
		w.notifier.Post(Quota, s.Facts)
	}
}
