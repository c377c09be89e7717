package reader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// elements marks the array in a path whose elements are the records, as in products[].title.
const elements = "[]"

// mostLevels is the deepest nesting of objects in which an array of records is found.
const mostLevels = 8

// outline has the arrays in an object and its nested objects, but no arrays inside arrays.
type outline struct {
	keys   []string // of the object
	arrays []memberArray
}

// memberArray is an array in an object.
type memberArray struct {
	path  string // the keys that lead to the array, joined by points
	level int    // number of keys in path
	first string // the first element, encoded; "" for an empty array
}

func (a *memberArray) hasObjects() bool { return strings.HasPrefix(a.first, "{") }

// outlineOf returns the outline of an object, which may be cut off. only reports whether nothing follows the object.
func outlineOf(text []byte) (o outline, only, cut bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return o, false, false
	}
	err := walk(d, "", 1, func(path string, level int, value json.Token) error {
		if level == 1 {
			o.keys = append(o.keys, path)
		}
		if value != json.Delim('[') {
			return nil
		}
		var first json.RawMessage
		if d.More() {
			if err := d.Decode(&first); err != nil {
				return err
			}
		}
		o.arrays = append(o.arrays, memberArray{path, level, string(first)})
		return leaveValue(d)
	})
	if err == nil {
		_, err = d.Token()
		return o, err == io.EOF, false
	}
	cut = err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)
	return o, cut, cut
}

// walk calls visit with the first token of each member of an object whose brace is consumed, and of its nested objects. visit
// consumes the rest of an array.
func walk(d *json.Decoder, prefix string, level int, visit func(path string, level int, value json.Token) error) error {
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		path := fmt.Sprint(prefix, key)
		value, err := d.Token()
		if err == nil {
			err = visit(path, level, value)
		}
		switch {
		case err != nil || value != json.Delim('{'):
		case level < mostLevels:
			err = walk(d, path+".", level+1, visit)
		default:
			err = leaveValue(d)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// leaveValue consumes the rest of an object or array.
func leaveValue(d *json.Decoder) error {
	for levels := 1; levels > 0; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		levels += change(t)
	}
	return nil
}

// change returns the change of the nesting level by a token.
func change(t json.Token) int {
	switch t {
	case json.Delim('{'), json.Delim('['):
		return 1
	case json.Delim('}'), json.Delim(']'):
		return -1
	}
	return 0
}

// findBelow finds the array of records in an object that is the whole document: the array in the names of the columns
// (products[].title), or else the only array with objects. It returns the options for the elements.
func (l *jsonLayout) findBelow(s *beginning, o *Options) (*Options, error) {
	given, columns, err := cutElements(o.Columns)
	if err != nil {
		return o, err
	}
	if given == "" && !startsObject(firstLine(s.data)) {
		return o, nil
	}
	found, only, cut := outlineOf(withNulls(s.data))
	if cut && s.canGrow() {
		if err := s.grow(sampleLimit); err != nil {
			return o, err
		}
		found, only, cut = outlineOf(withNulls(s.data))
	}
	below := given
	switch {
	case given != "" && (!only || !cut && !slices.ContainsFunc(found.arrays, func(a memberArray) bool { return a.path == given })):
		return o, &FormatError{s.name, 1, "the file is not an object with the array " + given + elements, "Columns"}
	case given == "" && only:
		if below, err = found.records(s.name, o); below == "" {
			return o, err
		}
		l.found = true
		o.Log.Info("the records are the elements of an array in the object", "option", "reader.Columns", "file", displayName(s.name), "array", below+elements)
	case given == "":
		return o, nil
	}
	l.document, l.array, l.below = true, true, below
	relative := *o
	relative.Columns = columns
	return &relative, nil
}

// cutElements splits names of columns into the path of an array of records and names in the elements.
func cutElements(names []string) (path string, columns []string, err error) {
	for i, name := range names {
		before, column := "", name
		if array, rest, found := strings.Cut(name, elements); found && (rest == "" || rest[0] == '.') {
			before, column = array, strings.TrimPrefix(rest, ".")
		}
		if i > 0 && before != path {
			return "", nil, &OptionError{"Columns", fmt.Sprintf("%s and %s are columns of different records", names[0], name)}
		}
		path = before
		if column != "" {
			columns = append(columns, column)
		}
	}
	return path, columns, nil
}

// records returns the path of the array of records; "" if the object is a record itself. If that is uncertain, the error names
// the arrays.
func (found *outline) records(file string, o *Options) (path string, err error) {
	least := mostLevels
	for _, a := range found.arrays {
		if a.hasObjects() {
			least = min(least, a.level)
		}
	}
	objects := slices.DeleteFunc(slices.Clone(found.arrays), func(a memberArray) bool { return !a.hasObjects() || a.level > least })
	texts := slices.DeleteFunc(slices.Clone(found.arrays), func(a memberArray) bool { return !strings.HasPrefix(a.first, `"`) })
	doubt := func(what string, arrays []memberArray) error {
		var names []string
		for _, a := range arrays {
			names = append(names, a.path+elements)
		}
		text := what + " " + strings.Join(names[:min(len(names), columnsShown)], " or ")
		if arrays[0].hasObjects() {
			text += ", with columns such as " + names[0] + ".NAME"
		}
		return &FormatError{file, 1, text, "Columns"}
	}
	isRecord := o.namesInput(found.keys)
	for _, name := range o.Columns {
		isRecord = isRecord || slices.ContainsFunc(found.keys, func(key string) bool { return strings.HasPrefix(name, key+".") })
	}
	switch {
	case isRecord:
		i := slices.IndexFunc(objects, func(a memberArray) bool { return o.namesInput(keysOf(a.first)) })
		if i >= 0 && len(o.Columns) == 0 {
			return "", doubt("the file is one object, which may be a record itself, or have records in", objects[i:i+1])
		}
		return "", nil
	case len(objects) == 1:
		return objects[0].path, nil
	case len(objects) > 1:
		return "", doubt("the file is one object, and the records may be in", objects)
	case len(texts) == 1 && len(found.arrays) == 1 && len(o.Columns) == 0:
		return "", doubt("the file is one object, and the inputs may be the texts of", texts)
	}
	return "", nil
}

func keysOf(object string) (keys []string) {
	for key := range members(object) {
		keys = append(keys, key)
	}
	return keys
}

// descend consumes an object up to the first element of the array below.
func (d *document) descend() error {
	if _, err := d.decoder.Token(); err != nil {
		return err
	}
	err := walk(d.decoder, "", 1, func(path string, level int, value json.Token) error {
		switch {
		case value != json.Delim('['):
			return nil
		case path == d.below:
			d.levels = level
			return errFound
		}
		return leaveValue(d.decoder)
	})
	switch err {
	case errFound:
		return nil
	case nil:
		return errors.New("no array " + d.below + elements)
	}
	return err
}

// errFound ends a walk.
var errFound = errors.New("found")

// ascend consumes the rest of the objects around the array below.
func (d *document) ascend() error {
	var before json.Token
	for levels := d.levels; levels > 0; {
		t, err := d.decoder.Token()
		if err != nil {
			return err
		}
		if t == json.Delim('{') && before == json.Delim('[') && levels == d.levels+1 && d.others != nil {
			d.others()
			d.others = nil
		}
		levels += change(t)
		before = t
	}
	return nil
}
