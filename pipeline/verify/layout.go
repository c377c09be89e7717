package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/writer"
)

// row is one row of the output as text, by column; "" is null. Numbers are as Go writes
// them, or as the file has them if it is text.
type row []string

// The places of the columns that every output has.
const (
	atRecord = iota
	atInput
	atStatus
	atClassification
	atRank
	atValue
	atTitle
	atConfidence
	atLevels
)

// layout says which columns the rows have.
type layout struct {
	schema  writer.Schema // but for Carry
	names   []string
	atError int
	carried int // the place of the first carried column
	places  []int
}

// newLayout tells the layout of an output by its columns, which must be those that the
// account promises, and carry those of the input; either may be nil.
func newLayout(names []string, account *pipeline.Account, input []string) (*layout, *Finding) {
	names, input = sameTexts(names), sameTexts(input)
	schema := schemaOf(names)
	if account != nil {
		s := account.Settings
		schema = writer.Schema{Levels: s.Levels, NAICS: s.Classification == client.NAICS, SourceColumns: s.SourceColumns}
	}
	fixed := columnNames(schema)
	l := &layout{schema: schema, names: names, atError: slices.Index(fixed, "error"), carried: len(fixed)}
	if len(names) < len(fixed) || !slices.Equal(names[:len(fixed)], fixed) {
		return nil, &Finding{What: "columns", Expected: strings.Join(fixed, ","), Got: strings.Join(names, ",")}
	}
	carry, known := carriedNames(account, input, names[len(fixed):])
	if !known {
		return l, nil
	}
	schema.Carry = carry
	if expected := columnNames(schema); !slices.Equal(names, expected) {
		return nil, &Finding{What: "columns", Expected: strings.Join(expected, ","), Got: strings.Join(names, ",")}
	}
	for _, name := range carry {
		if place := slices.Index(input, name); place >= 0 {
			l.places = append(l.places, place)
		} else if input != nil {
			return nil, &Finding{What: "carried column", Expected: "one of the input's: " + strings.Join(input, ","), Got: name}
		}
	}
	return l, nil
}

// schemaOf tells the columns of an output without account.
func schemaOf(names []string) writer.Schema {
	var s writer.Schema
	for atLevels+s.Levels < len(names) && s.Levels < writer.MaxLevels && names[atLevels+s.Levels] == fmt.Sprintf("level_%d", s.Levels+1) {
		s.Levels++
	}
	after := names[min(atLevels+s.Levels, len(names)):]
	s.SourceColumns = len(after) >= 3 && after[1] == "source" && after[2] == "answered_at"
	return s
}

// carriedNames names the input's columns that the output carries; tail are the output's
// names of them, which differ where they were taken.
func carriedNames(account *pipeline.Account, input, tail []string) (names []string, known bool) {
	carry := "all"
	if account != nil {
		carry = account.Settings.Carry
	}
	switch {
	case carry == "none" || carry == "":
		return nil, true
	case carry != "all":
		return sameTexts(strings.Split(carry, ",")), true
	case input == nil:
		return nil, false
	case account == nil && len(tail) != len(input):
		return tail, true
	}
	return input, true
}

func columnNames(s writer.Schema) []string {
	var names []string
	for _, c := range s.Columns() {
		names = append(names, c.Name)
	}
	return names
}

// ofEntry says whether a column is of one entry, and so may differ within a record.
func (l *layout) ofEntry(column int) bool {
	return column >= atRank && column < l.atError
}

// entries gives those that the rows of a record show.
func (l *layout) entries(rows []row) []writer.Entry {
	var entries []writer.Entry
	for _, r := range rows {
		if r[atValue] == "" {
			continue
		}
		x, _ := confidence(r[atConfidence]) // what is none is found elsewhere
		entries = append(entries, writer.Entry{Value: r[atValue], Title: r[atTitle], Confidence: x})
	}
	return entries
}

func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
