package reader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// sampleRecords is the number of JSONL records whose keys are the columns of a file.
	sampleRecords = 1000
	// maxColumns is the most columns of a file. A file with more has data as keys. Further keys count as unknown.
	maxColumns = 4096
	// unknownShown is the most unknown keys that are kept: a file with data as keys has millions.
	unknownShown = 20
)

var jsonlFormat = inputFormat{
	name:        "jsonl",
	extensions:  []string{".jsonl", ".ndjson", ".json"},
	content:     "a JSON object or string per line, or a JSON array of these, also in a member of an object",
	moreColumns: true,
	fit:         fitJSON,
	examine:     examineJSON,
}

// fitJSON recognizes JSON by the beginning of an object or an array, or by a string.
func fitJSON(s *beginning, _ *Options) fit {
	line := firstLine(s.lines())
	switch {
	case startsObject(line), startsJSONArray(line):
		return sureFit
	case len(line) > 0 && line[0] == '{':
		return weakFit
	case len(line) > 0 && line[0] == '"' && json.Valid(line):
		return fairFit
	}
	return noFit
}

// startsObject reports whether a line begins like a JSON object, and not like a title in braces.
func startsObject(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte{'{'})
	rest = bytes.TrimLeft(rest, jsonSpace)
	return found && (len(rest) == 0 || rest[0] == '"' || rest[0] == '}')
}

// startsJSONArray reports whether a line begins like a JSON array of records. Titles may begin with a bracket, too.
func startsJSONArray(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte{'['})
	rest = bytes.TrimLeft(rest, jsonSpace)
	return found && (len(rest) == 0 || rest[0] == '{' || rest[0] == '"' || string(rest) == "]")
}

// jsonSource splits a text into JSON values: the values of lines, of a document, or of the items of a feed.
type jsonSource interface {
	// value returns the next value and a row with its line, or with a fault instead of a value; io.EOF after the last value.
	value() (r row, value []byte, err error)
	at() int64 // as of a parser
}

// jsonLines is the source of JSONL: a value per line.
type jsonLines struct{ *lineSplitter }

func (l jsonLines) value() (row, []byte, error) { return l.record(trimJSON) }

// jsonParser reads the values of a source: an object, or a string that is the input.
type jsonParser struct {
	jsonSource
	inputs  []string // the input columns: keys or dotted paths; none if they are unknown
	options *Options
	values  []string       // encoded values of a record's input columns
	columns map[string]int // index of each of the run's columns
	paths   []string       // columns that may be dotted paths
	unknown *unknownKeys
	unit    string // the word for a record in messages: line, value or item
	width   int    // number of the run's columns
	nulls   slab[bool]
}

// jsonLayout is the result of examineJSON.
type jsonLayout struct {
	document, array bool   // see documentOf
	below           string // the path of the array of records in an object; "" for none
	found           bool   // below is not from the options
}

func newJSONParser(r *Reader, f *file, source jsonSource, unit string) *jsonParser {
	return &jsonParser{
		jsonSource: source,
		inputs:     f.info.Inputs,
		options:    &r.options,
		columns:    r.index,
		paths:      r.options.paths(),
		unknown:    &r.unknown,
		unit:       unit,
		width:      len(r.columns),
	}
}

// open returns a parser of lines, or of a document.
func (l jsonLayout) open(r *Reader, f *file, s *stream) (parser, error) {
	if !l.document {
		return newJSONParser(r, f, jsonLines{s.splitLines(r.options.MaxRecord)}, "line"), nil
	}
	d, err := newDocument(s.text, l)
	if err != nil {
		return nil, &ReadError{f.info.Name, d.at(), err}
	}
	if l.found {
		d.others = func() {
			r.options.Log.Warn("a further member has objects, and is not read", "option", "reader.Columns", "file", displayName(f.info.Name), "read", l.below+elements)
		}
	}
	return newJSONParser(r, f, d, "value"), nil
}

// next parses a value into a row. A value with invalid UTF-8 keeps its fields: users find the record by its id.
func (p *jsonParser) next() (row, error) {
	r, value, err := p.value()
	if err != nil || r.fault != "" {
		return r, err
	}
	switch r.fault = jsonFault(value); r.fault {
	case "":
		p.parse(&r, string(value))
	case faultEncoding:
		if text := bytes.ToValidUTF8(value, []byte("\ufffd")); json.Valid(text) {
			p.parse(&r, string(text))
			r.input, r.fault = "", faultEncoding
		}
	default:
		if text := withNulls(value); json.Valid(text) {
			r.fault = ""
			p.parse(&r, string(text))
		}
	}
	return r, nil
}

// parse sets the row from a valid JSON value.
func (p *jsonParser) parse(r *row, value string) {
	switch {
	case value[0] == '"':
		r.input = unquote(value)
	case value[0] != '{':
		r.fault = "the " + p.unit + " is " + kind(value) + ", want an object or a string"
	case len(p.inputs) == 0:
		r.fault = "the " + p.unit + faultNoColumn
	default:
		p.parseObject(r, value)
	}
}

func (p *jsonParser) parseObject(r *row, object string) {
	r.fields, r.nulls = make([]string, p.width), p.nulls.take(p.width)
	setAll(r.nulls)
	p.values = append(p.values[:0], make([]string, len(p.inputs))...)
	known := true
	for key, value := range members(object) {
		if i := slices.Index(p.inputs, key); i >= 0 {
			p.values[i] = value
		}
		place, ok := p.columns[key]
		if !ok {
			p.unknown.add(key)
			known = false
			continue
		}
		r.fields[place], r.nulls[place] = fieldText(value), value[0] == 'n'
	}
	if !known {
		p.unknown.records++
	}
	for _, path := range p.paths {
		if value, ok := lookup(object, path); ok {
			place := p.columns[path]
			r.fields[place], r.nulls[place] = fieldText(value), value[0] == 'n'
		}
	}
	for i, name := range p.inputs {
		if p.values[i] == "" {
			p.values[i], _ = lookupPath(object, name)
		}
	}
	r.input, r.fault = p.inputOf(p.values)
}

// inputOf returns the input for the encoded values of the input columns: strings, numbers or null. Missing values are "".
func (p *jsonParser) inputOf(values []string) (text, fault string) {
	for i, value := range values {
		if value == "" {
			continue
		}
		switch value[0] {
		case '{', '[', 't', 'f':
			return "", fmt.Sprintf("column %q is %s, want a string", p.inputs[i], kind(value))
		}
		values[i] = fieldText(value)
	}
	return p.options.joined(values), ""
}

// jsonFault returns why a line is not a JSON value; "" if it is a JSON value.
func jsonFault(line []byte) string {
	if !utf8.Valid(line) {
		return faultEncoding
	}
	if json.Valid(line) {
		return ""
	}
	return fmt.Sprintf("broken JSON: %v", json.Unmarshal(line, new(json.RawMessage)))
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

// examineJSON finds the columns and the input column in the first sampleRecords records.
func examineJSON(f *file, s *beginning, o *Options) (opener, error) {
	for s.canGrow() && lineEnds(s.data) < sampleRecords {
		if err := s.grow(min(4*len(s.data), sampleLimit)); err != nil {
			return nil, err
		}
	}
	var l jsonLayout
	o, err := l.findBelow(s, o)
	if err != nil {
		return nil, err
	}
	if l.below == "" {
		l.document, l.array = documentOf(s)
	}
	if !l.document {
		lines := newLineSplitter(bytes.NewReader(s.lines()))
		lines.most = o.MaxRecord
		return l.open, f.setObjects(o, jsonLines{lines})
	}
	f.info.Format = "json"
	if s.canGrow() { // an array may have no lines
		if err := s.grow(sampleLimit); err != nil {
			return nil, err
		}
	}
	d, _ := newDocument(bytes.NewReader(s.data), l) // after an error there are no values
	return l.open, f.setObjects(o, d)
}

// setObjects sets the columns and the input columns of a file from its first objects.
func (f *file) setObjects(o *Options, source jsonSource) error {
	objects := firstObjects(source)
	for _, c := range columnsOf(objects) {
		f.addColumn(c)
	}
	f.paths = pathTypes(o.paths(), objects)
	if len(objects) == 0 {
		f.info.Inputs = o.Columns // unchecked: there are no records yet
		return nil
	}
	var err error
	f.info.Inputs, err = f.inputNames(o, f.columns, func(name string) bool {
		hasColumn := func(object string) bool { _, ok := lookup(object, name); return ok }
		return slices.Contains(o.ExtraColumns, name) || slices.ContainsFunc(objects, hasColumn)
	}, func(place int) (values []string) {
		for _, object := range objects {
			if value, found := member(object, f.columns[place]); found {
				values = append(values, fieldText(value))
			}
		}
		return values
	})
	return err
}

// firstObjects returns the objects among the first sampleRecords values, up to an error.
func firstObjects(source jsonSource) []string {
	var objects []string
	for range sampleRecords {
		_, value, err := source.value()
		if err != nil {
			break
		}
		if value = withNulls(value); len(value) > 0 && value[0] == '{' && jsonFault(value) == "" {
			objects = append(objects, string(value))
		}
	}
	return objects
}

// columnsOf returns up to maxColumns top-level keys in order of first appearance, with the common types of their values.
func columnsOf(objects []string) []Column {
	var columns []Column
	places := map[string]int{}
	for _, object := range objects {
		for key, value := range members(object) {
			place, known := places[key]
			if !known && len(columns) == maxColumns {
				continue
			}
			if !known {
				place, key = len(columns), strings.Clone(key)
				places[key] = place
				columns = append(columns, Column{Name: key, Type: typeNull})
			}
			columns[place] = common(columns[place], Column{Name: columns[place].Name, Type: typeOf(value)})
		}
	}
	return columns
}

// pathTypes returns the types of the columns that are dotted paths.
func pathTypes(paths, objects []string) map[string]Column {
	types := make(map[string]Column, len(paths))
	for _, path := range paths {
		types[path] = Column{Name: path, Type: typeNull}
		for _, object := range objects {
			if value, found := lookupPath(object, path); found {
				types[path] = common(types[path], Column{Name: path, Type: typeOf(value)})
			}
		}
	}
	return types
}

// typeOf returns the type of an encoded value. A number that neither an int64 nor a double represents is text.
func typeOf(value string) Type {
	switch value[0] {
	case '"':
		return TypeString
	case 't', 'f':
		return TypeBool
	case '{', '[':
		return TypeJSON
	case 'n':
		return typeNull
	}
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return TypeInt64
	}
	const digits = 17 // a double has no more digits
	mantissa := strings.Trim(value[:strings.IndexAny(value+"e", "eE")], "-0.")
	if _, err := strconv.ParseFloat(value, 64); err != nil || len(mantissa)-strings.Count(mantissa, ".") > digits {
		return TypeString
	}
	return TypeDouble
}
