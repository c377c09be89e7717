package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// jsonSuite reads the files of JSONTestSuite: y_ has a record for each element, n_ is an error or has an invalid record, i_ is either.
func jsonSuite(folder string) ([]result, error) {
	paths, err := filesIn([]string{".json"}, folder, "json", "test_parsing")
	var results []result
	for _, path := range paths {
		r := result{suite: "json", name: filepath.Base(path), verdict: agrees}
		l, err := list(path)
		switch r.name[0] {
		case 'y':
			text, readErr := os.ReadFile(path)
			if readErr != nil {
				return nil, readErr
			}
			values, _ := countValues(text)
			if err != nil {
				r.verdict, r.detail = refused, err.Error()
			} else if len(l.Rows) != values {
				r.verdict, r.detail = differs, fmt.Sprintf("%d records, want %d", len(l.Rows), values)
			}
		case 'n':
			if err == nil && l.invalid == 0 {
				r.verdict, r.detail = differs, fmt.Sprintf("%d records, want an error", len(l.Rows))
			}
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
