package progress

import (
	"math"
	"sync"
)

// share estimates the share of records that need a request. The beginning of a list may have all its answers in
// the store and the rest none, so the estimate begins anew when a block of records differs from those before.
type share struct {
	mu              sync.Mutex
	records, needed float64 // since the last change
	blockRecords    float64
	blockNeeded     float64
}

const (
	shareBlock  = 200  // records
	shareChange = 4    // standard deviations: chance alone hardly ever makes a block differ by so much
	shareSpread = 0.01 // least variance of a record: lists are sorted, and so no chance samples
)

// add adds records that were looked up, in input order.
func (s *share) add(records, needed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blockRecords += float64(records)
	s.blockNeeded += float64(needed)
	if s.blockRecords < shareBlock {
		return
	}
	if s.records > 0 {
		p := s.needed / s.records
		deviation := math.Sqrt((p*(1-p) + shareSpread) / s.blockRecords)
		if math.Abs(s.blockNeeded/s.blockRecords-p) > shareChange*deviation {
			s.records, s.needed = 0, 0
		}
	}
	s.records += s.blockRecords
	s.needed += s.blockNeeded
	s.blockRecords, s.blockNeeded = 0, 0
}

// value is 1 before any record.
func (s *share) value() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == 0 {
		return 1
	}
	return s.needed / s.records
}
