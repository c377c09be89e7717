package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/writer"
)

// The indexes of the columns of a outputs.Row that every output begins with.
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

// layout describes the columns of the rows.
type layout struct {
	schema       writer.Schema // without Carry
	names        []string
	atTitle      int // -1 if there are no titles
	atConfidence int
	atError      int
	carried      int // the index of the first carried column
	places       []int
}

// newLayout returns the layout of an output with the given columns, or a finding if they differ
// from those of the account's settings and the input. account and input may be nil.
func newLayout(names []string, account *pipeline.Account, input []string) (*layout, *Finding) {
	names, input = sameTexts(names), sameTexts(input)
	schema := schemaOf(names)
	if account != nil {
		schema = account.Settings.Schema()
	}
	fixed := columnNames(schema)
	long := schema
	long.Shape = writer.ShapeLong // has the same columns, with the names that the structs of a list use
	flat := columnNames(long)
	l := &layout{
		schema: schema, names: names, carried: len(fixed),
		atTitle: slices.Index(flat, "title"), atConfidence: slices.Index(flat, "confidence"), atError: slices.Index(flat, "error"),
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

// listPrefix begins the names of the columns that are members of the structs in the list.
const listPrefix = "categories."

// schemaOf derives the schema of an output without an account from its columns.
func schemaOf(names []string) writer.Schema {
	var s writer.Schema
	if len(names) > atRank && strings.HasPrefix(names[atRank], listPrefix) {
		s.Shape, names = writer.ShapeNested, slices.Clone(names)
		for i := range names {
			names[i] = strings.TrimPrefix(names[i], listPrefix)
		}
	}
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

// carriedNames returns the names of the input's columns that the output carries; tail are their
// names in the output, which differ if an output column has the same name.
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
		if c.Type != writer.TypeList {
			names = append(names, c.Name)
		}
		for _, e := range c.Elements {
			names = append(names, c.Name+"."+e.Name)
		}
	}
	return names
}

// membersOf returns the members of the structs in the lists of a run; nil if there is no account or
// no list.
func membersOf(account *pipeline.Account) []string {
	if account == nil {
		return nil
	}
	var members []string
	for _, c := range account.Settings.Schema().Columns() {
		for _, e := range c.Elements {
			members = append(members, e.Name)
		}
	}
	return members
}

// checkTypes returns a finding if the carried columns of a file have other names or types than the account says;
// types are those of all columns, nil if the format has none. Accounts of earlier versions list no carried columns.
func (l *layout) checkTypes(types []writer.ValueType, account *pipeline.Account) *Finding {
	if account == nil || account.Carried == nil {
		return nil
	}
	names := make([]string, len(account.Carried))
	for i, c := range account.Carried {
		names[i] = sameText(c.Name)
	}
	if got := l.names[l.carried:]; !slices.Equal(got, names) {
		return &Finding{What: "carried columns", Expected: strings.Join(names, ","), Got: strings.Join(got, ",")}
	}
	if types == nil {
		return nil
	}
	for i, c := range account.Carried {
		if got := types[l.carried+i]; got != c.Type {
			return &Finding{What: "type of " + c.Name, Expected: c.Type.String(), Got: got.String()}
		}
	}
	return nil
}

// ofEntry reports whether a column describes an entry, and so may differ within a record.
func (l *layout) ofEntry(column int) bool {
	return column >= atRank && column < l.atError
}

// entries returns the entries in the rows of a record, with their ranks.
func (l *layout) entries(rows []outputs.Row) (entries []writer.Entry, ranks []string) {
	for _, r := range rows {
		if r[atValue] == "" {
			continue
		}
		x, _ := confidence(r[l.atConfidence]) // checkEntries reports malformed ones
		entries = append(entries, writer.Entry{Value: r[atValue], Title: l.title(r), Confidence: x})
		ranks = append(ranks, r[atRank])
	}
	return entries, ranks
}

func (l *layout) title(r outputs.Row) string {
	if l.atTitle < 0 {
		return ""
	}
	return r[l.atTitle]
}

func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
