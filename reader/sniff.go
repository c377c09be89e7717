package reader

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// sniffRows is the number of rows that decide on a delimiter.
const sniffRows = 100

// delimiters are the known delimiters. The order breaks ties.
var delimiters = []string{",", ";", "\t", "|"}

// formatByName returns the format of an extension; "" for other extensions.
func formatByName(name string) string {
	switch extension(name) {
	case ".csv", ".tsv":
		return formatCSV
	case ".jsonl", ".ndjson", ".json":
		return formatJSONL
	case ".txt":
		return formatTXT
	case ".parquet", ".pq", ".parq":
		return formatParquet
	case ".xlsx", ".xlsm":
		return formatExcel
	}
	return ""
}

// extension returns the extension of a file name without .gz and .zst, in lower case.
func extension(name string) string {
	name = strings.ToLower(filepath.Base(name))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return filepath.Ext(name)
}

// compressedName reports whether a file has the extension of a compression that the package reads.
func compressedName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst")
}

// sniffFormat returns the format of data by the first line that is neither blank nor a comment: JSONL for a JSON
// object or string, CSV for the name of an input column or if the options are about columns, else txt.
func sniffFormat(data []byte, o *Options) string {
	line := firstLine(data)
	if len(line) == 0 {
		return formatTXT
	}
	comma := detectDelimiter(data, o.StrictCSV)
	if o.Delimiter != 0 {
		comma = string(o.Delimiter)
	}
	row, _ := (&csvRows{lines: newLines(bytes.NewReader(line)), comma: comma, strict: o.StrictCSV}).next()
	if row.fault != "" {
		row.fields = nil
	}
	switch {
	case line[0] == '{' || startsJSONArray(line):
		return formatJSONL
	// This comes before the JSON string, because a quoted column name looks like a JSON string.
	case o.NoHeader || o.Delimiter != 0 || slices.ContainsFunc(row.fields, o.isInputName):
		return formatCSV
	case line[0] == '"' && json.Valid(line):
		return formatJSONL
	case len(o.Columns) > 0 && len(row.fields) > 1:
		return formatCSV
	default:
		return formatTXT
	}
}

// startsJSONArray reports whether a line starts a JSON array of records. Other inputs may start with a bracket, too.
func startsJSONArray(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte{'['})
	rest = bytes.TrimLeft(rest, jsonSpace)
	return found && (len(rest) == 0 || rest[0] == '{' || rest[0] == '"' || string(rest) == "]")
}

func (o *Options) isInputName(column string) bool {
	same := likeName(column)
	return slices.ContainsFunc(o.Columns, same) || slices.ContainsFunc(o.Candidates, same)
}

// firstLine returns the first line that is neither blank nor a # comment; nil if there is none.
func firstLine(data []byte) []byte {
	for len(data) > 0 {
		line := beforeLineEnd(data)
		data = data[min(len(line)+1, len(data)):]
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}

// beforeLineEnd returns the text before the first LF or CR.
func beforeLineEnd(data []byte) []byte {
	if i := bytes.IndexAny(data, "\r\n"); i >= 0 {
		return data[:i]
	}
	return data
}

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
func commaOf(s *sample, separator string, o *Options) string {
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
	rows := csvRows{lines: newLines(bytes.NewReader(data)), comma: comma, strict: strict}
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
