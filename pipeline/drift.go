package pipeline

import "sync/atomic"

// Drift counts departures of answers from the interface, which show that a service has changed. The rows
// have the values as the service gave them.
type Drift struct {
	Dropped    atomic.Int64 // entries without a value, which have no rows
	Confidence atomic.Int64 // entries without a confidence, or with a confidence outside 0 to 1
	Category   atomic.Int64 // entries whose category is not in the taxonomy
}

// DriftCount is the state of a Drift at one moment.
type DriftCount struct {
	Dropped    int64 `json:"dropped"`
	Confidence int64 `json:"confidence"`
	Category   int64 `json:"category"`
}

func (d *Drift) count() DriftCount {
	return DriftCount{Dropped: d.Dropped.Load(), Confidence: d.Confidence.Load(), Category: d.Category.Load()}
}

// drop counts entries that were dropped from an answer.
func (d *Drift) drop(entries int) {
	if entries > 0 {
		d.Dropped.Add(int64(entries))
	}
}

// observe counts the departures of an entry.
func (d *Drift) observe(confidence float64, known bool) {
	if !(confidence >= 0 && confidence <= 1) {
		d.Confidence.Add(1)
	}
	if !known {
		d.Category.Add(1)
	}
}
