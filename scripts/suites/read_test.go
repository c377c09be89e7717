package suites

import (
	"context"
	"errors"
	"io"

	"github.com/bulkcat/bulkcat/reader"
)

// listing is what package reader makes of a file.
type listing struct {
	Columns []string    `json:"columns"`
	Rows    [][]*string `json:"rows"` // fields; nil for null
	inputs  []string
	invalid int // number of records with an error
}

// list reads a file to its end. The input column is the first column that can be one.
func list(path string) (listing, error) {
	l, err := listColumn(path)
	missing, ok := errors.AsType[*reader.ColumnError](err)
	if !ok {
		return l, err
	}
	for _, column := range append(missing.Columns, leaves(path)...) {
		if l, err = listColumn(path, column); err == nil || l.Columns != nil {
			return l, err
		}
	}
	return l, err
}

func listColumn(path string, columns ...string) (l listing, err error) {
	r, err := reader.Open(context.Background(), reader.Options{Paths: []string{path}, Columns: columns})
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	l.Columns = r.Columns()
	for {
		record, err := r.Read()
		if err == io.EOF {
			return l, nil
		}
		if err != nil {
			return l, err
		}
		if record.Err != nil {
			l.invalid++
		}
		row := make([]*string, len(record.Fields))
		for i, field := range record.Fields {
			if record.Nulls == nil || !record.Nulls[i] {
				row[i] = &field
			}
		}
		l.Rows, l.inputs = append(l.Rows, row), append(l.inputs, record.Input)
	}
}
