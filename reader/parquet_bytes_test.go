package reader

import (
	"strings"
	"testing"
)

// Old programs write text without its type. Bytes that are no text, such as text in another encoding, are no input: their base64
// would be asked for.
func TestParquetBytes(t *testing.T) {
	type row struct {
		Title []byte  `parquet:"title"`
		Model []byte  `parquet:"model"`
		Bytes [3]byte `parquet:"bytes"`
	}
	tests := []struct {
		name  string
		title string
		input string // "" for an invalid record
		field string
	}{
		{"text", "café", "café 0 m", "café"},
		{"Windows-1252", "caf\xe9", "", "Y2Fm6Q=="},
		{"a NUL", "a\x00", "", "YQA="},
		{"one byte", "\xff", "", "/w=="},
		{"empty", "", "0 m", ""},
		{"base64", "Y2Fm6Q==", "Y2Fm6Q== 0 m", "Y2Fm6Q=="},
	}
	var rows []row
	for _, tt := range tests {
		rows = append(rows, row{[]byte(tt.title), []byte("0 m"), [3]byte{0xff}})
	}
	records := readAll(t, openReader(t, Options{Paths: []string{write(t, rows)}, Columns: []string{"title", "model"}, Join: " "}))
	for i, tt := range tests {
		r := records[i]
		if invalid := r.Err != nil; r.Input != tt.input || invalid != (tt.input == "") || r.Fields[0] != tt.field || r.Fields[2] != "/wAA" {
			t.Errorf("%s: %q, %q, %v", tt.name, r.Input, r.Fields, r.Err)
		}
		if r.Err != nil && !strings.Contains(r.Err.Error(), "the input is bytes that are no UTF-8 text") {
			t.Errorf("%s: %v", tt.name, r.Err)
		}
	}
}
