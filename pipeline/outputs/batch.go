package outputs

import "math"

// Columns is a set of columns to read.
type Columns uint16

// The columns of an output that can be read in batches.
const (
	Record Columns = 1 << iota
	Input
	Status
	Classification
	Rank
	Value
	CategoryID
	Title // of NAICS codes
	Confidence
	Error
	AnsweredAt
)

// names are the columns in the order of an output; a row has level_1, level_2, ... after the confidence.
var names = []struct {
	column   Columns
	name     string
	optional bool
	ofEntry  bool
}{
	{Record, "record", false, false},
	{Input, "input", false, false},
	{Status, "status", false, false},
	{Classification, "classification", false, false},
	{Rank, "rank", false, true},
	{Value, "value", false, true},
	{CategoryID, "category_id", false, true},
	{Title, "title", true, true},
	{Confidence, "confidence", false, true},
	{Error, "error", false, false},
	{AnsweredAt, "answered_at", true, false},
}

// Batch is some rows of a file, column by column. Columns that are not read are empty. A Batch is valid until the
// next one.
type Batch struct {
	Len        int
	First      bool // it begins a file
	Records    []int64
	Ranks      []int64   // 0 is null
	Confidence []float64 // NaN is null
	AnsweredAt []int64   // microseconds since 1970; 0 is null

	Inputs, Statuses, Classifications, Values, CategoryIDs, Titles, Errors Text

	input func(i int) (string, error) // of row i, if Inputs is not read
}

// Text is a column of text. Row i has Distinct[Index[i]]. Distinct[0] is the null, ""; other texts may be there twice.
// All columns are so long as the batch, or empty if the file has no such column.
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
	if b.input == nil || len(b.Inputs.Index) > 0 {
		return b.Inputs.At(i), nil
	}
	return b.input(i)
}

// text returns the column of text of a set of one column; nil for numbers.
func (b *Batch) text(c Columns) *Text {
	switch c {
	case Input:
		return &b.Inputs
	case Status:
		return &b.Statuses
	case Classification:
		return &b.Classifications
	case Value:
		return &b.Values
	case CategoryID:
		return &b.CategoryIDs
	case Title:
		return &b.Titles
	case Error:
		return &b.Errors
	}
	return nil
}

// whole returns the column of whole numbers; nil for others.
func (b *Batch) whole(c Columns) *[]int64 {
	switch c {
	case Record:
		return &b.Records
	case Rank:
		return &b.Ranks
	case AnsweredAt:
		return &b.AnsweredAt
	}
	return nil
}

// reset empties the batch, but keeps the memory of numbers.
func (b *Batch) reset() {
	b.Len, b.First, b.input = 0, false, nil
	for _, n := range names {
		if t := b.text(n.column); t != nil {
			t.Distinct, t.Index = nil, t.Index[:0]
		} else if w := b.whole(n.column); w != nil {
			*w = (*w)[:0]
		}
	}
	b.Confidence = b.Confidence[:0]
}

var null = math.NaN()
