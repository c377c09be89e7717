package writer

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestValues gives the values of one row as each format has them.
func TestValues(t *testing.T) {
	schema := Schema{
		Form: Form{Levels: 2, SourceColumns: true}, Carry: []string{"text", "empty", "null", "price", "when", "no"},
		CarryTypes: []ValueType{{}, {}, {}, {Type: TypeDouble}, {Type: TypeTimestamp, Scale: 6}, {Type: TypeInt64}},
	}
	row := &Row{
		Record: 7, Status: StatusOK, Classification: "c", Rank: 1, Value: "A", Confidence: 0.25, Levels: []string{"A"},
		AnsweredAt: time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC),
		Fields:     []string{"x", "", "", "1.50", "2026-01-02T03:04:05Z", "none"}, Nulls: []bool{false, false, true, false, false, false},
	}
	none := &Row{Record: 8, Confidence: math.NaN()}
	own := []string{"7", Null, "ok", "c", "1", "A", Null, "0.25", "A", Null, Null, Null, Null, "2026-01-02T03:04:05.600000Z"}
	for format, want := range map[Format][]string{
		CSV:      {"x", Null, Null, "1.50", "2026-01-02T03:04:05Z", "none"},
		"tsv.gz": {"x", Null, Null, "1.50", "2026-01-02T03:04:05Z", "none"},
		JSONL:    {"x", "", Null, "1.50", "2026-01-02T03:04:05Z", "none"},
		Parquet:  {"x", "", Null, "1.5", "1767323045000000", Null},
	} {
		if got := Values(schema.Columns(), row, format); !slices.Equal(got, append(slices.Clone(own), want...)) {
			t.Errorf("%s: got %q", format, got)
		}
		if got := Values(schema.Columns(), none, format); got[0] != "8" || slices.ContainsFunc(got[1:], func(value string) bool { return value != Null }) {
			t.Errorf("%s: a row without values: got %q", format, got)
		}
	}
}
