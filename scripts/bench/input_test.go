package main

import (
	"io"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/reader"
)

// TestInputs reads inputs as bulkcat does: every record is valid, and the number of distinct
// records is right.
func TestInputs(t *testing.T) {
	for name, test := range map[string]struct {
		input    input
		distinct int
	}{
		"websites":            {input{client.Website, 1000, 0}, 1000},
		"titles":              {input{client.Product, 1000, 0}, 1000},
		"duplicate websites":  {input{client.Website, 1000, 50}, 500},
		"duplicate titles":    {input{client.Product, 1000, 20}, 800},
		"a part of a hundred": {input{client.Website, 70, 50}, 50},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, err := test.input.write(dir)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := test.input.write(dir); again != path || err != nil {
				t.Errorf("the second time: %s, %v", again, err)
			}
			records, distinct := readAll(t, path, test.input.kind)
			if records != test.input.records || distinct != test.distinct {
				t.Errorf("%d records, %d of them distinct; want %d and %d", records, distinct, test.input.records, test.distinct)
			}
		})
	}
}

func readAll(t *testing.T, path string, kind client.Kind) (records, distinct int) {
	r, err := reader.Open(t.Context(), reader.Options{Paths: []string{path}, Candidates: []string{"url", "title"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := make(map[string]bool)
	for {
		record, err := r.Read()
		if err == io.EOF {
			return records, len(seen)
		}
		if err != nil || record.Err != nil {
			t.Fatal(err, record.Err)
		}
		request, err := normalize.Normalizer{}.Request(kind, record.Input, "")
		if err != nil {
			t.Fatal(err)
		}
		records++
		seen[request.Input] = true
	}
}

// The two sides of a pair make the same requests.
func TestBareLoopAsksTheSame(t *testing.T) {
	for number := range 1000 {
		request, err := normalize.Normalizer{}.Request(client.Website, website(number), client.TaxonomyV3)
		if request = (normalize.Normalizer{}).Site(request); err != nil || request.Input != website(number) {
			t.Fatalf("%s is asked as %s, %v", website(number), request.Input, err)
		}
	}
}
