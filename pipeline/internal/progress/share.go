package progress

import (
	"math"
	"sync"
)

// share estimates the share of records that need a request. The store may have all answers to the beginning of a list and none
// to the rest. So a block of records that differs from the records before it restarts the estimate.
type share struct {
	mu              sync.Mutex
	records, needed float64 // since the last restart
	blockRecords    float64
	blockNeeded     float64
}

const (
	shareBlock  = 200  // records
	shareChange = 4    // standard deviations; chance alone hardly ever exceeds them
	shareSpread = 0.01 // added variance: a list may be sorted, so a block is no random sample
)

// add adds records that were looked up, in input order. needed of them need a request.
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

// value returns the estimate; 1 before the first block.
func (s *share) value() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == 0 {
		return 1
	}
	return s.needed / s.records
}
