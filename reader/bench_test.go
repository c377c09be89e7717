package reader

import (
	"io"
	"strings"
	"testing"
)

// BenchmarkRead reports MB/s of text, after decompression.
func BenchmarkRead(b *testing.B) {
	csv := noise() + strings.Repeat("www.example.com,A title of the usual length\n", 200_000)
	quoted := "domain,title\n" + strings.Repeat("\"www.example.com\",\"A title, of the \"\"usual\"\" length\"\n", 200_000)
	jsonl := strings.Repeat(`{"id":1234567,"domain":"www.example.com","title":"A title of the usual length","tags":["a","b"]}`+"\n", 100_000)
	inputs := []struct {
		name, format string
		text, stored string
	}{
		{"csv", "csv", csv, csv},
		{"quoted", "csv", quoted, quoted},
		{"jsonl", "jsonl", jsonl, jsonl},
		{"gzip", "csv", csv, gzipped(b, csv)},
		{"zstd", "csv", csv, zstdCompressed(b, csv)},
	}
	for _, input := range inputs {
		b.Run(input.name, func(b *testing.B) {
			b.SetBytes(int64(len(input.text)))
			b.ReportAllocs()
			for b.Loop() {
				r := openReader(b, fromString(input.stored, Options{Format: input.format, Candidates: candidates}))
				if _, err := drain(r); err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}
