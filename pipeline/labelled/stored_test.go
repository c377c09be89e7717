package labelled_test

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/labelled"
)

// Of many stored answers the same ones are labels, in the same order, in whichever order they were stored.
func TestStoredLabels(t *testing.T) {
	const stored, most = 100, 7 // the labels are cut many times while they are read
	lines := make([]client.Request, stored)
	for i := range lines {
		lines[i] = client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: fmt.Sprint("title ", i)}
	}
	var first []string
	for n, name := range []string{"forwards", "backwards"} {
		path := filepath.Join(t.TempDir(), name+".db")
		store, err := answers.Open(answers.Options{Path: path, Source: "https://api.example.com"})
		if err != nil {
			t.Fatal(err)
		}
		batch := store.NewBatch()
		for _, r := range lines {
			body := fmt.Appendf(nil, `{"product_taxonomy":[{"value":"Label %c"}]}`, r.Input[len(r.Input)-1])
			batch.Add(r, answers.Outcome{Answer: client.Answer{Body: body, AnsweredAt: time.Now()}})
		}
		if err := batch.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		labels, err := labelled.ReadLabels(labelled.StoredAnswers{Path: path, Kind: client.Product, Classification: client.ProductTaxonomy, Most: most})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			r, err := labels.Read()
			if err == io.EOF {
				break
			}
			if err != nil || r.Number != int64(len(got)+1) || r.File != path {
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
