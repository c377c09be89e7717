package writer

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bulkcat/bulkcat/writer/form"
)

// Shape determines how the categories of a record become rows.
type Shape = form.Shape

// The shapes. With several classifications, a record has the rows of each classification.
const (
	ShapeLong   Shape = "long"   // a row per category, or one row without a category; the default
	ShapeTop    Shape = "top"    // one row per record, with the category of the highest confidence
	ShapeNested Shape = "nested" // one row per record, with the list of its categories
)

// CheckShape returns a *ShapeError if the format cannot represent the shape.
func (f Format) CheckShape(s Shape) error {
	if s == ShapeNested && f.Delimited() {
		return &ShapeError{Shape: s, Format: f}
	}
	return nil
}

// ShapeError says that a shape is unknown, or that a format cannot represent the shape.
type ShapeError struct {
	Shape  Shape
	Format Format // "" if the shape is unknown
}

func (e *ShapeError) Error() string {
	if e.Format == "" {
		return fmt.Sprintf("unknown shape %q: choose long, top or nested", e.Shape)
	}
	return fmt.Sprintf("%s has no lists, so it cannot represent the shape %s: write Parquet or JSONL, or choose the shape top or long",
		e.Format, e.Shape)
}

// Keeps reports whether MinConfidence keeps an entry with this confidence. Above 0, it keeps no entry without a confidence.
func (s Schema) Keeps(confidence float64) bool {
	return s.MinConfidence == 0 || finite(confidence) >= s.MinConfidence
}

// most returns the most entries of a record.
func (s Schema) most() int {
	switch {
	case s.Shape == ShapeTop:
		return 1
	case s.Top > 0:
		return s.Top
	}
	return math.MaxInt
}

// IsSorted reports whether the entries are sorted by falling confidence. It ignores entries without a confidence.
func IsSorted(entries []Entry) bool {
	least := math.Inf(1)
	for i := range entries {
		if entries[i].Confidence > least {
			return false
		}
		if x := entries[i].Confidence; x < least {
			least = x
		}
	}
	return true
}

// best marks the s.most() entries with the highest confidences. It returns nil if these are the first entries. Of equal
// confidences the first counts. A missing confidence is the lowest.
func (s Schema) best(entries []Entry) []bool {
	if len(entries) <= s.most() || slices.IsSortedFunc(entries, byConfidence) {
		return nil
	}
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return byConfidence(entries[a], entries[b]) })
	best := make([]bool, len(entries))
	for _, i := range order[:s.most()] {
		best[i] = true
	}
	return best
}

// byConfidence orders entries from the highest confidence to the lowest.
func byConfidence(a, b Entry) int {
	return cmp.Compare(finite(b.Confidence), finite(a.Confidence)) // NaN is below all numbers
}
