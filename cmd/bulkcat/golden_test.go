package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
)

// TestGolden compares the answers to all sample inputs with testdata/golden. A change of the embedded service's
// answers shows here as a diff:
//
//	go test ./cmd/bulkcat -run TestGolden -update
func TestGolden(t *testing.T) {
	const samples = "../../testdata"
	for _, tt := range []struct {
		golden string
		args   string
		bad    bool // the input has bad rows on purpose
	}{
		{"websites.csv", "website websites.csv", true},
		{"websites-naics.csv", "website websites.csv --classification naics --carry id", true},
		{"products.jsonl", "product products.jsonl --output-format jsonl", true},
		{"domains-txt.csv", "website domains.txt", false},
		{"domains-gz.csv", "website domains.csv.gz", false},
		{"websites-utf16.csv", "website websites.utf16.csv", false},
		{"titles-1252.csv", "product titles.csv --encoding windows-1252", false},
		{"titles-1252.csv", "product titles.csv", false},
		{"products-zst.csv", "product products.jsonl.zst --carry sku,brand --levels 6", false},
	} {
		t.Run(tt.golden, func(t *testing.T) {
			golden, err := filepath.Abs(filepath.Join(samples, "golden", tt.golden))
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(samples) // errors name the files as they are given
			var stdout, stderr bytes.Buffer
			args := append(strings.Fields(tt.args), "-o", "-", "--fetch", "never")
			err = execute(t.Context(), args, streams{in: strings.NewReader(""), out: &stdout, err: terminal.New(&stderr, false), signals: new(signals)})
			if err != nil && !errors.Is(err, errUnanswered) || errors.Is(err, errUnanswered) != tt.bad {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			if *update {
				if err := os.WriteFile(golden, stdout.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stdout.Bytes(), want) {
				t.Errorf("the output is not %s: %s", tt.golden, firstDifference(stdout.String(), string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "\ngot  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer"
}
