package progress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Reasons that differ only in numbers are one reason. The number of reasons is bounded, and every record counts.
func TestReasonsAreBounded(t *testing.T) {
	const records = 1000
	for name, tt := range map[string]struct {
		text    func(i int) string
		classes int
	}{
		"numbers": {func(i int) string { return fmt.Sprintf("%d fields, want 4", i) }, 1},
		"texts":   {func(i int) string { return strings.Repeat("x", i) }, mostReasons + 1},
	} {
		t.Run(name, func(t *testing.T) {
			var s reasons
			for i := records; i > 0; i-- { // tasks end in any order
				row := &reader.RowError{File: "in.csv", Line: int64(i), Reason: tt.text(i)}
				s.add(writer.StatusInvalid, Settled{Record: &reader.Record{Number: int64(i), File: "in.csv", Line: int64(i)}, Err: row})
			}
			list, total := s.list(), int64(0)
			for _, r := range list {
				total += r.Records
			}
			if len(list) != tt.classes || total != records {
				t.Errorf("%d classes of %d records, want %d of %d", len(list), total, tt.classes, records)
			}
			if list[0].Line != 1 {
				t.Errorf("the first record of the most frequent class is that of line %d, want 1", list[0].Line)
			}
		})
	}
}
