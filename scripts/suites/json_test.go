package suites

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// jsonSuite reads the files of JSONTestSuite: y_ has a record for each element, n_ is an error or has an invalid record, i_ is either.
func jsonSuite(_ context.Context, folder string) ([]result, error) {
	paths, err := files(folder, jsonFiles)
	var results []result
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		r := result{suite: "json", name: filepath.Base(path), verdict: agrees}
		values, _ := countValues(text)
		l, err := list(path)
		switch {
		case r.name[0] == 'y' && err != nil:
			r = r.judged(refused, err)
		case r.name[0] == 'y' && len(l.Rows) != values:
			r = r.judged(differs, fmt.Errorf("%d records, want %d", len(l.Rows), values))
		case r.name[0] == 'n' && err == nil && l.invalid == 0:
			r = r.judged(differs, fmt.Errorf("%d records, want an error", len(l.Rows)))
		}
		results = append(results, r)
	}
	return results, err
}

// countValues returns the number of values that follow each other in text, with the elements of arrays in place of the arrays.
func countValues(text []byte) (n int, err error) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	for {
		var value json.RawMessage
		if err := decoder.Decode(&value); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
		var elements []json.RawMessage
		if value[0] != '[' {
			n++
		} else if err := json.Unmarshal(value, &elements); err != nil {
			return n, err
		}
		n += len(elements)
	}
}
