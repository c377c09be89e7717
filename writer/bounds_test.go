package writer

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBounds(t *testing.T) {
	full, last := strings.Repeat("a", maxBound), string(utf8.MaxRune)
	for _, tt := range []struct{ name, text, least, most string }{
		{"empty", "", "", ""},
		{"short", "shoe", "shoe", "shoe"},
		{"as long as a bound", full, full, full},
		{"longer", full + "b", full, full[1:] + "b"},
		{"a character is cut", full[1:] + "éé", full[1:], full[2:] + "b"},
		{"a longer character follows", full[1:] + "\x7fx", full[1:] + "\x7f", full[1:] + "\u0080"},
		{"surrogates follow", full[3:] + "\ud7ffx", full[3:] + "\ud7ff", full[3:] + "\ue000"},
		{"replaced bytes", full[3:] + "\ufffdx", full[3:] + "\ufffd", full[3:] + "\ufffe"},
		{"nothing follows the last character", full[4:] + last + "x", full[4:] + last, full[5:] + "b"},
		{"nothing follows", strings.Repeat(last, maxBound), strings.Repeat(last, maxBound/4), strings.Repeat(last, maxBound)},
		{"not UTF-8", strings.Repeat("\xff", maxBound+1), strings.Repeat("\xff", maxBound), strings.Repeat("\xff", maxBound+1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(lowerBound([]byte(tt.text))); got != tt.least || got > tt.text {
				t.Errorf("lower bound %q, want %q", got, tt.least)
			}
			if got := string(upperBound([]byte(tt.text))); got != tt.most || got < tt.text {
				t.Errorf("upper bound %q, want %q", got, tt.most)
			}
		})
	}
}

// The bounds in a file hold for all cells, are valid UTF-8, and are short.
func TestParquetBounds(t *testing.T) {
	var rows []Row
	for _, text := range []string{"b", "", strings.Repeat("é", 1000), "c", "a" + strings.Repeat("z", 500_000)} {
		rows = append(rows, Row{Record: int64(len(rows) + 1), Input: "x", Status: StatusInvalid, Fields: []string{text}})
	}
	file := openParquet(t, encodeAll(t, Parquet, Schema{Carry: []string{"text"}}, rows))
	columns := file.Metadata().RowGroups[0].Columns
	carried := len(columns) - 1
	check := func(least, most []byte) {
		t.Helper()
		if string(least) != "a"+strings.Repeat("z", maxBound-1) || string(most) != strings.Repeat("é", maxBound/2-1)+"ê" {
			t.Errorf("bounds %q and %q", least, most)
		}
	}
	check(columns[carried].MetaData.Statistics.MinValue, columns[carried].MetaData.Statistics.MaxValue)
	index := file.ColumnIndexes()[carried]
	if len(index.MinValues) != 1 {
		t.Fatalf("%d pages, want 1", len(index.MinValues))
	}
	check(index.MinValues[0], index.MaxValues[0])
}
