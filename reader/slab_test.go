package reader

import (
	"runtime"
	"strings"
	"testing"
)

// A retained record does not retain a long record.
func TestLongRecordsAreHeldAlone(t *testing.T) {
	const length, limit = 256 << 10, 4 << 20
	rows := repeated{"domain,n\n", "a.com," + strings.Repeat("x", length) + "\n", 100 * length}
	before := liveHeap()
	r := openReader(t, Options{Paths: []string{"-"}, Stdin: &rows, Format: "csv", Candidates: candidates})
	var last Record
	for {
		record, err := r.Read()
		if err != nil {
			break
		}
		last = record
	}
	if held := int64(liveHeap() - before); held > limit {
		t.Errorf("%d KiB are held with one record, want at most %d", held>>10, limit>>10)
	}
	if last.Number < 90 {
		t.Errorf("%d records were read", last.Number)
	}
	runtime.KeepAlive(last)
}
