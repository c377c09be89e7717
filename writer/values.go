package writer

import "fmt"

// Null is the value of a column that is null. It is invalid UTF-8, so no text of a row is equal to it.
const Null = "\xff"

// Values returns the values of columns in a row as text, as a reader of a file in the format gets them. In CSV and TSV, empty
// text is null. No column may be a list.
func Values(columns []Column, row *Row, format Format) []string {
	content, _ := format.split()
	values := make([]string, len(columns))
	for i := range columns {
		c := &columns[i]
		text, ok := "", false
		switch {
		case c.ID == ColumnCarried:
			if text, ok = c.carriedOf(row); ok && content == Parquet && c.Type != TypeString {
				value, fits := c.ValueType().parse(text)
				text, ok = fmt.Sprint(value), fits
			}
		case c.isText():
			text = c.textOf(row)
			ok = text != ""
		default:
			var number []byte
			number, ok = c.appendNumber(nil, row)
			text = string(number)
		}
		if values[i] = text; !ok || text == "" && format.Delimited() {
			values[i] = Null
		}
	}
	return values
}
