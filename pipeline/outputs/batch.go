package outputs

import (
	"math"

	"github.com/bulkcat/bulkcat/writer"
)

// Columns is a set of columns to read.
type Columns uint32

// Of returns a set of columns.
func Of(columns ...writer.ColumnID) (set Columns) {
	for _, c := range columns {
		set |= 1 << c
	}
	return set
}

func (s Columns) has(c writer.ColumnID) bool { return s&(1<<c) != 0 }

// Batch is some rows of a file, column by column. Columns that are not read, or that the file does not have, are empty.
// A Batch is valid until the next one. A row of the shape nested is several rows of the batch, one for each category.
type Batch struct {
	Len   int
	Rows  int  // of the file
	First bool // it begins a file

	// The columns by their type: text, whole numbers and times, doubles.
	Texts  [writer.NumColumns]Text
	Wholes [writer.NumColumns][]int64   // times are microseconds since 1970; 0 is null
	Reals  [writer.NumColumns][]float64 // NaN is null

	input func(i int) (string, error) // of row i, if the inputs are not read
}

// Text is a column of text. Row i has Distinct[Index[i]]. Distinct[0] is the null, ""; other texts may be there twice.
// All columns have the length of the batch, or are empty if the file has no such column.
type Text struct {
	Distinct []string
	Index    []int32
}

// At returns the text of row i; "" if the file has no such column.
func (t *Text) At(i int) string {
	if len(t.Index) == 0 {
		return ""
	}
	return t.Distinct[t.Index[i]]
}

// InputAt returns the input of row i, also if the column is not read: it reads the page of the row.
func (b *Batch) InputAt(i int) (string, error) {
	inputs := &b.Texts[writer.ColumnInput]
	if b.input == nil || len(inputs.Index) > 0 {
		return inputs.At(i), nil
	}
	return b.input(i)
}

// rows returns the number of rows of a column.
func (b *Batch) rows(c *writer.Column) int {
	switch c.Type {
	case writer.TypeInt64, writer.TypeTimestamp:
		return len(b.Wholes[c.ID])
	case writer.TypeDouble:
		return len(b.Reals[c.ID])
	}
	return len(b.Texts[c.ID].Index)
}

// reset empties the batch, but keeps the memory of numbers.
func (b *Batch) reset() {
	b.Len, b.Rows, b.First, b.input = 0, 0, false, nil
	for c := range writer.NumColumns {
		b.Texts[c] = Text{Index: b.Texts[c].Index[:0]}
		b.Wholes[c], b.Reals[c] = b.Wholes[c][:0], b.Reals[c][:0]
	}
}

var null = math.NaN()
