package loop

import (
	"bytes"
	"encoding/csv"
	"testing"
)

// An input has equal titles, rows without a title, and malformed rows.
func TestInput(t *testing.T) {
	const records = 400
	input := makeInput(records, 1)
	if !bytes.Equal(input, makeInput(records, 1)) {
		t.Error("two inputs of one seed differ")
	}
	if bytes.Equal(input, makeInput(records, 2)) {
		t.Error("inputs of two seeds are equal")
	}
	r := csv.NewReader(bytes.NewReader(input))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != records+1 {
		t.Errorf("%d rows, want %d and a header", len(rows), records)
	}
	seen := make(map[string]bool)
	var ragged, untitled, again int
	for _, row := range rows {
		switch {
		case len(row) != 3:
			ragged++
		case row[1] == "":
			untitled++
		case seen[row[1]]:
			again++
		}
		seen[row[1]] = true
	}
	if ragged == 0 || untitled == 0 || again == 0 {
		t.Errorf("%d ragged rows, %d without a title, %d titles again: want some of each", ragged, untitled, again)
	}
}
