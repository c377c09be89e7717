package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// csvSuite compares each file of csv-spectrum with the JSON beside it: an object for each row.
func csvSuite(folder string) ([]result, error) {
	paths, err := filesIn([]string{".csv"}, folder, "csv-spectrum", "csvs")
	var results []result
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		want, err := os.ReadFile(filepath.Join(folder, "csv-spectrum", "json", name+".json"))
		if err != nil {
			return nil, err
		}
		var rows []map[string]string
		if err := json.Unmarshal(want, &rows); err != nil {
			return nil, err
		}
		r := result{suite: "csv-spectrum", name: name}
		l, err := list(path)
		if err == nil {
			err = compareTexts(l, rows)
			r.verdict = differs
		} else {
			r.verdict = refused
		}
		if r.detail = fmt.Sprint(err); err == nil {
			r.verdict = agrees
		}
		results = append(results, r)
	}
	return results, err
}

func compareTexts(l listing, want []map[string]string) error {
	if len(l.Rows) != len(want) || l.invalid > 0 {
		return fmt.Errorf("%d rows, %d of them invalid; want %d", len(l.Rows), l.invalid, len(want))
	}
	for i, row := range l.Rows {
		for k, column := range l.Columns {
			if value := want[i][column]; *row[k] != value {
				return fmt.Errorf("row %d, %s: %q, want %q", i+1, column, *row[k], value)
			}
		}
	}
	return nil
}
