package reader

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// sniffRows is how many rows tell a delimiter: more do not make it clearer.
const sniffRows = 100

// delimiters are tried in this order, which breaks ties.
var delimiters = []string{",", ";", "\t", "|"}

// formatByName tells the format by the extension, "" if it is none of ours.
func formatByName(name string) string {
	switch extension(name) {
	case ".csv", ".tsv":
		return formatCSV
	case ".jsonl", ".ndjson", ".json":
		return formatJSONL
	case ".txt":
		return formatTXT
	}
	return ""
}

// extension returns a file name's extension in lower case, not counting that of
// a compression.
func extension(name string) string {
	name = strings.ToLower(filepath.Base(name))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return filepath.Ext(name)
}

// sniffFormat tells the format by the first line that is neither blank nor a
// comment: an object or a lone JSON string means JSONL, the name of an input
// column or any sign that the caller expects columns means CSV, all else is txt.
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
	// Before the JSON string, because a quoted column name looks like one.
	case o.NoHeader || o.Delimiter != 0 || slices.ContainsFunc(row.fields, o.isInputName):
		return formatCSV
	case line[0] == '"' && json.Valid(line):
		return formatJSONL
	case o.Column != "" && len(row.fields) > 1:
		return formatCSV
	default:
		return formatTXT
	}
}

// startsJSONArray tells a JSON array, which JSONL will refuse with advice, from
// an input that happens to begin with a bracket.
func startsJSONArray(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte{'['})
	rest = bytes.TrimLeft(rest, jsonSpace)
	return found && (len(rest) == 0 || rest[0] == '{' || rest[0] == '"')
}

func (o *Options) isInputName(column string) bool {
	same := sameName(column)
	return o.Column != "" && same(o.Column) || slices.ContainsFunc(o.Candidates, same)
}

// firstLine returns the first line that is neither blank nor a # comment.
func firstLine(data []byte) []byte {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}

// separatorOf returns the delimiter that a first line such as sep=; names for Excel, which
// writes it quoted at times; "" if the first line is no such line.
func separatorOf(data []byte, o *Options) string {
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	text := strings.Trim(strings.TrimSuffix(string(line), "\r"), `"`)
	const lead = "sep="
	if o.StrictCSV || len(text) <= len(lead) || !strings.EqualFold(text[:len(lead)], lead) {
		return ""
	}
	separator := text[len(lead):]
	r, size := utf8.DecodeRuneInString(separator)
	if size != len(separator) || !validDelimiter(r) {
		return ""
	}
	return separator
}

// commaOf returns what separates the fields of a CSV file.
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

// detectDelimiter returns the delimiter that splits the most rows into as many
// fields as the first one has, if that is more than one; a comma if none does.
// Every delimiter is tried with the parser itself, so quotes count for what they
// are. Among equals the one that makes more fields wins.
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

// consistency returns how many fields the first row has and which share of the
// first rows has as many.
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
