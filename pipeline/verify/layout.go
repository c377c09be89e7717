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

// row is one row of the output as text, by column; "" is null. Numbers are as Go writes them, or as in the
// file if that is text.
type row []string

// The indexes of the columns that every output begins with.
const (
	atRecord = iota
	atInput
	atStatus
	atClassification
	atRank
	atValue
	atCategoryID
	afterCategoryID
)

// layout says which columns the rows have.
type layout struct {
	schema       writer.Schema // without Carry
	names        []string
	atTitle      int // -1 if there are no titles
	atConfidence int
	atError      int
	carried      int // index of the first carried column
	places       []int
}

// newLayout gives the layout of an output from its columns. These must be the columns of the account, and the
// carried columns those of the input; either may be nil.
func newLayout(names []string, account *pipeline.Account, input []string) (*layout, *Finding) {
	names, input = sameTexts(names), sameTexts(input)
	schema := schemaOf(names)
	if account != nil {
		s := account.Settings
		schema = writer.Schema{Levels: s.Levels, SourceColumns: s.SourceColumns}
		if slices.Contains(s.Classifications(), client.NAICS) {
			schema.NAICS = client.NAICS
		}
	}
	fixed := columnNames(schema)
	l := &layout{
		schema: schema, names: names, carried: len(fixed),
		atTitle: slices.Index(fixed, "title"), atConfidence: slices.Index(fixed, "confidence"), atError: slices.Index(fixed, "error"),
	}
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

// schemaOf gives the schema of an output without an account.
func schemaOf(names []string) writer.Schema {
	var s writer.Schema
	after := names[min(afterCategoryID, len(names)):]
	if len(after) > 0 && after[0] == "title" {
		s.NAICS, after = client.NAICS, after[1:]
	}
	after = after[min(1, len(after)):] // confidence
	for s.Levels < min(len(after), writer.MaxLevels) && after[s.Levels] == fmt.Sprintf("level_%d", s.Levels+1) {
		s.Levels++
	}
	after = after[s.Levels:]
	s.SourceColumns = len(after) >= 3 && after[1] == "source" && after[2] == "answered_at"
	return s
}

// carriedNames gives the columns of the input that the output carries. In tail are their names in the
// output, which have a prefix if the name of the input was taken.
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

// ofEntry says whether a column belongs to an entry, and so may differ within a record.
func (l *layout) ofEntry(column int) bool {
	return column >= atRank && column < l.atError
}

// entries gives the entries in the rows of a record.
func (l *layout) entries(rows []row) []writer.Entry {
	var entries []writer.Entry
	for _, r := range rows {
		if r[atValue] == "" {
			continue
		}
		x, _ := confidence(r[l.atConfidence]) // other checks find an invalid confidence
		entries = append(entries, writer.Entry{Value: r[atValue], Title: l.title(r), Confidence: x})
	}
	return entries
}

func (l *layout) title(r row) string {
	if l.atTitle < 0 {
		return ""
	}
	return r[l.atTitle]
}

func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
