package pipeline_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/answers/archive"
	"github.com/bulkcat/bulkcat/pipeline"
)

// Of many stored answers the same ones are labels, in the same order, in whichever order they were stored.
func TestStoredLabels(t *testing.T) {
	const stored, most = 100, 7 // the labels are cut many times while they are read
	lines := make([]string, stored)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"source":"https://api.example.com","kind":"product","classification":"product_taxonomy","input":"title %d","outcome":"answer","status":200,"answered_at":"2026-03-01T12:00:00Z","body":{"product_taxonomy":[{"value":"Label %d"}]}}`, i, i%3)
	}
	var first []string
	for n, name := range []string{"forwards", "backwards"} {
		dir := filepath.Join(t.TempDir(), name)
		store, err := answers.Open(answers.Options{Dir: dir, Source: "any"})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		for _, line := range lines {
			fmt.Fprintln(&text, line)
		}
		if _, err := archive.Import(t.Context(), store, &text, name); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		labels, err := pipeline.ReadLabels(pipeline.StoredAnswers{Dir: dir, Kind: client.Product, Classification: client.ProductTaxonomy, Most: most})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			r, err := labels.Read()
			if err == io.EOF {
				break
			}
			if err != nil || r.Number != int64(len(got)+1) || r.File != dir {
				t.Fatalf("got %+v, %v", r, err)
			}
			got = append(got, r.Input+": "+r.Fields[0])
		}
		if labels.Found != stored || labels.Len() != most || len(got) != most {
			t.Errorf("%d labels of %d: %q", labels.Len(), labels.Found, got)
		}
		if n > 0 && !slices.Equal(got, first) {
			t.Errorf("%s: %q, not %q", name, got, first)
		}
		first = got
		slices.Reverse(lines)
	}
}
