package labelled

import (
	"context"
	"errors"
	"strings"

	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/reader"
)

// optionColumn is a column that an option names.
type optionColumn struct{ option, name string }

// openLabelled opens an input with columns of labels. places are the indexes of these columns in the fields of a record. The
// errors are those of reader.Open, and *pipeline.OptionError if a column is missing: its Option is InputColumn, or that of the
// column.
func openLabelled(ctx context.Context, o reader.Options, columns ...optionColumn) (input *reader.Reader, places []int, err error) {
	o.Missing = normalize.Normalizer{}.IsMissing
	for _, c := range columns {
		o.ExtraColumns = append(o.ExtraColumns, c.name)
	}
	if input, err = reader.Open(ctx, o); err != nil {
		missing, ok := errors.AsType[*reader.ColumnError](err)
		if !ok {
			return nil, nil, err
		}
		option := "InputColumn"
		for _, c := range columns {
			if missing.Option == "ExtraColumns" && missing.Column == c.name {
				option = c.option
			}
		}
		return nil, nil, &output.OptionError{Option: option, Err: err}
	}
	for _, c := range columns {
		place, _ := input.Place(c.name) // Open has found it
		places = append(places, place)
	}
	return input, places, nil
}

// labelOf returns the label of a record; "" for none.
func labelOf(r reader.Record, place int) string {
	if place >= len(r.Fields) {
		return ""
	}
	return strings.ToValidUTF8(r.Fields[place], "\uFFFD")
}
