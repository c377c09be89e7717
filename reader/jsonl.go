package reader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// sampleRecords is the number of JSONL records whose keys are the columns of a file.
	sampleRecords = 1000
	// maxColumns is the most columns of a file. A file with more has data as keys; further keys count as
	// unknown.
	maxColumns = 4096
	// unknownShown is the most unknown keys that are kept: a file with data as keys has millions.
	unknownShown = 20
)

// jsonlParser reads a JSON value per line: an object, or a string that is the input.
type jsonlParser struct {
	lines   *lines
	input   string         // the input column: a key or a dotted path; "" if not known
	columns map[string]int // index of each of the run's columns
	paths   []string       // columns that may be dotted paths
	unknown *unknownKeys
}

func (p *jsonlParser) at() int64 { return p.lines.number }

func (p *jsonlParser) next() (row, error) {
	for {
		r := row{line: p.lines.number}
		line, err := p.lines.next()
		if err == errLong {
			r.fault = faultLongLine
			return r, nil
		}
		if err != nil {
			return row{}, err
		}
		line = bytes.Trim(line, jsonSpace)
		if len(line) == 0 {
			continue
		}
		p.parseLine(&r, line)
		return r, nil
	}
}

// parseLine sets the row to a line. A line with invalid UTF-8 keeps its fields, so that users can find the
// record by its id.
func (p *jsonlParser) parseLine(r *row, line []byte) {
	switch r.fault = jsonFault(line); r.fault {
	case "":
		p.parse(r, string(line))
	case faultEncoding:
		if text := bytes.ToValidUTF8(line, []byte("\ufffd")); json.Valid(text) {
			p.parse(r, string(text))
			r.input, r.fault = "", faultEncoding
		}
	}
}

// parse sets the row to a valid JSON value.
func (p *jsonlParser) parse(r *row, value string) {
	switch {
	case value[0] == '"':
		r.input = unquote(value)
	case value[0] != '{':
		r.fault = "the line is " + kind(value) + ", want an object or a string"
	case p.input == "":
		r.fault = "the line is an object, but the input column is not known; name it with --column NAME"
	default:
		p.parseObject(r, value)
	}
}

func (p *jsonlParser) parseObject(r *row, object string) {
	r.fields = make([]string, len(p.columns))
	input, found, known := "", false, true
	for key, value := range members(object) {
		if key == p.input {
			input, found = value, true
		}
		place, ok := p.columns[key]
		if !ok {
			p.unknown.add(key)
			known = false
			continue
		}
		r.fields[place] = fieldText(value)
	}
	if !known {
		p.unknown.records++
	}
	for _, path := range p.paths {
		if value, ok := lookup(object, path); ok {
			r.fields[p.columns[path]] = fieldText(value)
		}
	}
	if !found {
		input, found = lookupPath(object, p.input)
	}
	if found {
		r.input, r.fault = inputText(p.input, input)
	}
}

// inputText returns the input for an encoded value: a decoded string, the digits of a number, or "" for null.
func inputText(column, value string) (text, fault string) {
	switch value[0] {
	case '{', '[', 't', 'f':
		return "", fmt.Sprintf("column %q is %s, want a string", column, kind(value))
	}
	return fieldText(value), ""
}

// jsonFault says why a line is not a JSON value; "" if it is.
func jsonFault(line []byte) string {
	if !utf8.Valid(line) {
		return faultEncoding
	}
	if json.Valid(line) {
		return ""
	}
	var value json.RawMessage
	return fmt.Sprintf("broken JSON: %v", json.Unmarshal(line, &value))
}

// unknownKeys collects the top-level keys that are not columns.
type unknownKeys struct {
	names   []string
	records int64
}

func (u *unknownKeys) add(key string) {
	if len(u.names) < unknownShown && !slices.Contains(u.names, key) {
		u.names = append(u.names, strings.Clone(key)) // a key shares the memory of its line
	}
}

// examineJSONL finds the columns and the input column in the first sampleRecords records.
func (f *file) examineJSONL(s *sample, o *Options) error {
	for s.canGrow() && bytes.Count(s.data, []byte{'\n'}) < sampleRecords {
		if err := s.grow(min(4*len(s.data), sampleLimit)); err != nil {
			return err
		}
	}
	if err := refuseOtherJSON(s); err != nil {
		return err
	}
	objects := sampleObjects(s.lines())
	f.columns = keysOf(objects)
	hasColumn := func(object string) bool { _, ok := lookup(object, o.Column); return ok }
	if len(objects) == 0 || o.Column != "" &&
		(slices.Contains(o.ExtraColumns, o.Column) || slices.ContainsFunc(objects, hasColumn)) {
		f.info.Column = o.Column
		return nil
	}
	input, err := o.inputColumn(f.info.Name, f.columns)
	if err != nil {
		return err
	}
	f.info.Column = f.columns[input]
	return nil
}

// refuseOtherJSON returns a *FormatError for a JSON array and for a JSON value of several lines. Read as JSONL,
// every line of these would be a malformed record.
func refuseOtherJSON(s *sample) error {
	number := int64(1)
	rest := s.data
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		line = bytes.Trim(line, jsonSpace)
		switch {
		case len(line) == 0:
			rest = after
			number++
			continue
		case line[0] == '[':
			return &FormatError{s.name, number, "a JSON array is not JSONL, which has one value per line; convert it with jq -c '.[]'"}
		case !json.Valid(line) && spansLines(rest):
			return &FormatError{s.name, number, "a JSON value of several lines is not JSONL, which has one value per line; convert it with jq -c ."}
		}
		return nil
	}
	return nil
}

// spansLines reports whether data starts with a valid JSON value of several lines.
func spansLines(data []byte) bool {
	var value json.RawMessage
	return json.NewDecoder(bytes.NewReader(data)).Decode(&value) == nil && bytes.IndexByte(value, '\n') >= 0
}

func sampleObjects(data []byte) []string {
	var objects []string
	lines := newLines(bytes.NewReader(data))
	for range sampleRecords {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		line = bytes.Trim(line, jsonSpace)
		if len(line) > 0 && line[0] == '{' && jsonFault(line) == "" {
			objects = append(objects, string(line))
		}
	}
	return objects
}

// keysOf returns up to maxColumns top-level keys in order of first appearance.
func keysOf(objects []string) []string {
	var keys []string
	seen := map[string]bool{}
	for _, object := range objects {
		for key := range members(object) {
			if !seen[key] && len(keys) < maxColumns {
				seen[key] = true
				keys = append(keys, strings.Clone(key))
			}
		}
	}
	return keys
}
