package writer

import (
	"errors"
	"strings"
	"testing"
)

func TestFormatOf(t *testing.T) {
	tests := []struct {
		path string
		want Format // "" for an error
	}{
		{"out.parquet", Parquet},
		{"a/b.c/out.PQ", Parquet},
		{"out.csv", CSV},
		{"out.CSV", CSV},
		{"out.tsv", TSV},
		{"out.jsonl", JSONL},
		{"out.ndjson", JSONL},
		{"out.csv.gz", "csv.gz"},
		{"out.v2.jsonl.zst", "jsonl.zst"},
		{"out.tsv.GZ", "tsv.gz"},
		{"csv", ""},
		{"out", ""},
		{"", ""},
		{"-", ""},
		{"out.csv/", CSV},
		{"out.gz", ""},
		{"out.parquet.gz", ""},
		{"out.csv.bz2", ""},
		{"out.xlsx", ""},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			got, err := FormatOf(tt.path)
			checkFormat(t, got, err, tt.want)
		})
	}
}

func TestParseFormat(t *testing.T) {
	tests := []struct {
		name string
		want Format
	}{
		{"parquet", Parquet},
		{"Parquet", Parquet},
		{"pq", Parquet},
		{"csv", CSV},
		{"tsv", TSV},
		{"ndjson", JSONL},
		{"csv.zst", "csv.zst"},
		{"ndjson.gz", "jsonl.gz"},
		{"", ""},
		{".csv", ""},
		{"csv.", ""},
		{"csv.gz.gz", ""},
		{"parquet.zst", ""},
		{"xml", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseFormat(tt.name)
			checkFormat(t, got, err, tt.want)
		})
	}
}

func checkFormat(t *testing.T, got Format, err error, want Format) {
	t.Helper()
	if want != "" {
		if got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		return
	}
	var formatErr *FormatError
	if !errors.As(err, &formatErr) || got != "" {
		t.Fatalf("got %q, %v; want a FormatError", got, err)
	}
	for _, part := range []string{"format", "parquet", "csv", "tsv", "jsonl"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not mention %s", err, part)
		}
	}
}

func TestFormatCompressedAs(t *testing.T) {
	tests := []struct {
		format Format
		path   string
		want   Format
	}{
		{CSV, "out.csv", CSV},
		{CSV, "out.csv.gz", "csv.gz"},
		{JSONL, "out.txt.ZST", "jsonl.zst"},
		{"csv.gz", "out.zst", "csv.gz"},
		{Parquet, "out.gz", Parquet},
		{CSV, "-", CSV},
	}
	for _, tt := range tests {
		if got := tt.format.compressedAs(tt.path); got != tt.want {
			t.Errorf("%s in %s: got %s, want %s", tt.format, tt.path, got, tt.want)
		}
	}
}
