package notify

import (
	"time"

	"github.com/bulkcat/bulkcat/pipeline/repeat"
)

// watchInterval is the time between two looks at a run.
const watchInterval = time.Second

// Snapshot is the state of a run, for Watch.
type Snapshot struct {
	Outages int64  // outages of the service since the run began
	Quota   *int64 // requests left; nil if unknown
	Facts   Facts
}

// Watch posts an event for each new outage, and one event when the share of the quota in [Occasions] is used. It starts a
// goroutine that calls look once a second. end calls look a last time and stops the goroutine. If n is nil or its occasions
// have neither Outage nor Quota, Watch does nothing.
func (n *Notifier) Watch(look func() Snapshot) (end func()) {
	if n == nil || !n.options.On.Outage && n.options.On.Quota == 0 {
		return func() {}
	}
	w := watch{notifier: n, first: look()}
	stop := repeat.Every(watchInterval, func() { w.see(look()) })
	return func() {
		stop()
		w.see(look()) // a short run ends before the first look of the goroutine
	}
}

// watch is the state of Watch: it has counted the posted events.
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
	share, first := w.notifier.options.On.Quota, w.first.Quota
	metered := share > 0 && first != nil && *first > 0 && s.Quota != nil
	if !w.quota && metered && float64(*first-*s.Quota) >= share*float64(*first) {
		w.quota = true
		w.notifier.Post(Quota, s.Facts)
	}
}
