package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/writer"
)

// layout describes the columns of the rows.
type layout struct {
	schema  writer.Schema // without Carry
	names   []string
	columns []writer.Column        // without the carried ones
	at      [writer.NumColumns]int // the index of each column; -1 for none
	carried int                    // the index of the first carried column
	places  []int
}

// newLayout returns the layout of an output with the given columns, or a finding if they differ
// from those of the account's settings and the input. account and input may be nil.
func newLayout(names []string, account *record.Account, input []string) (*layout, *Finding) {
	names, input = sameTexts(names), sameTexts(input)
	schema, _, _ := writer.SchemaOf(names) // other columns differ from those of the schema
	schema.Codes = client.Codes()
	if account != nil {
		schema = account.Settings.Schema()
	}
	fixed := schema.Names()
	l := &layout{schema: schema, names: names, columns: schema.Leaves(), carried: len(fixed)}
	for c := range l.at {
		l.at[c] = slices.IndexFunc(l.columns, func(column writer.Column) bool { return column.ID == writer.ColumnID(c) })
	}
	if len(names) < len(fixed) || !slices.Equal(names[:len(fixed)], fixed) {
		return nil, &Finding{What: "columns", Expected: strings.Join(fixed, ","), Got: strings.Join(names, ",")}
	}
	carry, known := carriedNames(account, input, names[len(fixed):])
	if !known {
		return l, nil
	}
	schema.Carry = carry
	if expected := schema.Names(); !slices.Equal(names, expected) {
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

// carriedNames returns the names of the input's columns that the output carries; tail are their
// names in the output, which differ if an output column has the same name.
func carriedNames(account *record.Account, input, tail []string) (names []string, known bool) {
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

// membersOf returns the members of the structs in the lists of a run; nil if there is no account or
// no list.
func membersOf(account *record.Account) []string {
	if account == nil {
		return nil
	}
	var members []string
	for _, name := range account.Settings.Schema().Names() {
		if member, ok := strings.CutPrefix(name, writer.ListPrefix); ok {
			members = append(members, member)
		}
	}
	return members
}

// checkTypes returns a finding if the carried columns of a file have other names or types than the account says;
// types are those of all columns, nil if the format has none. Accounts of earlier versions list no carried columns.
func (l *layout) checkTypes(types []writer.ValueType, account *record.Account) *Finding {
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

// cell returns the cell of a column; "" if the output has no such column.
func (l *layout) cell(r outputs.Row, c writer.ColumnID) string {
	if at := l.at[c]; at >= 0 {
		return r[at]
	}
	return ""
}

// ofEntry reports whether a column describes an entry, and so may differ within a record.
func (l *layout) ofEntry(column int) bool {
	return column < l.carried && !l.columns[column].OfRecord()
}

// entries returns the entries in the rows of a record, with their ranks.
func (l *layout) entries(rows []outputs.Row) (entries []writer.Entry, ranks []string) {
	for _, r := range rows {
		value := l.cell(r, writer.ColumnValue)
		if value == "" {
			continue
		}
		x, _ := confidence(l.cell(r, writer.ColumnConfidence)) // checkEntries reports malformed ones
		entries = append(entries, writer.Entry{Value: value, Local: l.cell(r, writer.ColumnValueLocal), Title: l.cell(r, writer.ColumnTitle), Confidence: x})
		ranks = append(ranks, l.cell(r, writer.ColumnRank))
	}
	return entries, ranks
}

func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
