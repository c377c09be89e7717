package reader

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// sniffRows is the number of rows that decide on a delimiter.
const sniffRows = 100

// delimiters are the known delimiters. The order breaks ties.
var delimiters = []string{",", ";", "\t", "|"}

// separatorOf returns the delimiter in a first line such as sep=; or "sep=;", which Excel reads and writes; "" for
// any other first line.
func separatorOf(data []byte, o *Options) string {
	text := strings.Trim(string(beforeLineEnd(data)), `"`)
	const prefix = "sep="
	if o.StrictCSV || len(text) <= len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return ""
	}
	separator := text[len(prefix):]
	r, size := utf8.DecodeRuneInString(separator)
	if size != len(separator) || !validDelimiter(r) {
		return ""
	}
	return separator
}

// commaOf returns the delimiter of a CSV file.
func commaOf(s *beginning, separator string, o *Options) string {
	switch {
	case o.Delimiter != 0:
		return string(o.Delimiter)
	case separator != "":
		return separator
	case extension(s.name) == ".tsv":
		return "\t"
	default:
		return detectDelimiter(s.lines(), o.StrictCSV)
	}
}

// detectDelimiter returns the delimiter that splits the most rows into the number of fields of the first row, if
// that is more than 1; else a comma. Of equal delimiters, the one with more fields wins. It uses the parser, which
// understands quotes.
func detectDelimiter(data []byte, strict bool) string {
	best, bestFields, bestShare := delimiters[0], 1, 0.0
	for _, comma := range delimiters {
		fields, share := consistency(data, comma, strict)
		if fields > 1 && (share > bestShare || share == bestShare && fields > bestFields) {
			best, bestFields, bestShare = comma, fields, share
		}
	}
	return best
}

// consistency returns the number of fields of the first row, and the fraction of the first sniffRows rows that have
// the same number.
func consistency(data []byte, comma string, strict bool) (fields int, share float64) {
	rows := csvRows{lines: newLineSplitter(bytes.NewReader(data)), comma: comma, strict: strict}
	same, all := 0, 0
	for all < sniffRows {
		r, err := rows.next()
		if err != nil {
			break
		}
		if all == 0 && r.fault == "" {
			fields = len(r.fields)
		}
		if r.fault == "" && len(r.fields) == fields {
			same++
		}
		all++
	}
	return fields, float64(same) / float64(max(all, 1))
}
