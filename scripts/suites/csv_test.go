package suites

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// csvSuite compares each file of csv-spectrum with the JSON beside it: an object for each row.
func csvSuite(_ context.Context, folder string) ([]result, error) {
	paths, err := files(folder, csvFiles)
	var results []result
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		var rows []map[string]string
		if err := readJSON(&rows, folder, "csv-spectrum", "json", name+".json"); err != nil {
			return nil, err
		}
		r := result{suite: "csv-spectrum", name: name}
		if l, err := list(path); err != nil {
			r = r.judged(refused, err)
		} else {
			r = r.judged(differs, compareTexts(l, rows))
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
