package outputs

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/writer"
)

// csvReader reads delimited text.
type csvReader struct {
	in      *csv.Reader
	header  []string
	one     [1]Row // of next
	escaped bool   // Part.Escaped
}

func newCSVReader(r io.Reader, comma rune, escaped bool) (*csvReader, error) {
	in := csv.NewReader(&returnsKept{in: r})
	in.Comma = comma
	c := &csvReader{in: in, escaped: escaped}
	header, err := c.next() // also sets the number of fields of all rows
	if err == io.EOF {
		return nil, errors.New("there is no header")
	}
	c.header = header[0]
	return c, err
}

func (c *csvReader) columns() []string { return c.header }

func (c *csvReader) next() (_ []Row, err error) {
	c.one[0], err = c.in.Read()
	for i, cell := range c.one[0] {
		if strings.IndexByte(cell, escape) >= 0 {
			c.one[0][i] = unescape.Replace(cell)
		}
		if c.escaped {
			c.one[0][i] = writer.UnescapeFormula(c.one[0][i])
		}
	}
	return c.one[:], err
}

func (c *csvReader) types() []writer.ValueType { return nil }

// expected does not distinguish null from empty text.
func (c *csvReader) expected(_ int, text string, _ bool) string { return text }

// returnsKept escapes carriage returns: encoding/csv reads CR LF as LF inside quotes, where the text of a cell may
// have both.
type returnsKept struct {
	in      io.Reader
	chunk   [16 << 10]byte
	escaped []byte // not returned yet
	err     error  // of in, returned after escaped
}

// escape is a control character, which hardly any text has.
const escape = 0x1a

var (
	escapes  = strings.NewReplacer("\x1a", "\x1as", "\r", "\x1ar")
	unescape = strings.NewReplacer("\x1as", "\x1a", "\x1ar", "\r")
)

func (k *returnsKept) Read(p []byte) (int, error) {
	for len(k.escaped) == 0 && k.err == nil {
		var n int
		n, k.err = k.in.Read(k.chunk[:])
		k.escaped = k.chunk[:n]
		if bytes.ContainsAny(k.escaped, "\x1a\r") {
			k.escaped = []byte(escapes.Replace(string(k.escaped)))
		}
	}
	if len(k.escaped) == 0 {
		return 0, k.err
	}
	n := copy(p, k.escaped)
	k.escaped = k.escaped[n:]
	return n, nil
}

// jsonlReader reads JSON objects, one after the other. The first object defines the columns; all
// objects have the same members in the same order. One member may be a list of objects, which also
// have the same members.
type jsonlReader struct {
	in      *json.Decoder
	names   []string // of the columns
	members []string // of the objects in the list; nil until they are known
	list    int      // the index of the list's first column; -1 for none
	first   []Row    // read ahead; nil after next has returned it
	n       int      // the number of objects read
}

func newJSONLReader(r io.Reader, members []string) (*jsonlReader, error) {
	j := &jsonlReader{in: json.NewDecoder(r), members: members, list: -1}
	j.in.UseNumber()
	first, err := j.object(j.define)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if err == nil && len(j.names) == 0 && j.list < 0 {
		return nil, errors.New("object 1 has no members")
	}
	j.first = first
	return j, nil
}

// columns is nil for a file without rows.
func (j *jsonlReader) columns() []string { return slices.Clip(j.names) }

func (j *jsonlReader) next() ([]Row, error) {
	if first := j.first; first != nil {
		j.first = nil
		return first, nil
	}
	rows, err := j.object(j.isDefined)
	if err == nil && len(rows[0]) != len(j.names) {
		err = fmt.Errorf("object %d has %d members, not %d", j.n, len(rows[0]), len(j.names))
	}
	return rows, err
}

func (j *jsonlReader) types() []writer.ValueType { return nil }

// expected ignores the type: numbers and booleans have the text of the input.
func (j *jsonlReader) expected(_ int, text string, null bool) string {
	switch {
	case null:
		return ""
	case text == "":
		return EmptyText
	}
	return text
}

// define adds the columns of a member of the first object; false for a second list.
func (j *jsonlReader) define(at int, name string, isList bool) bool {
	if !isList {
		j.names = append(j.names, name)
		return true
	}
	if j.list >= 0 {
		return false
	}
	j.list = at
	for _, member := range j.members {
		j.names = append(j.names, name+"."+member)
	}
	return true
}

// isDefined reports whether a member of an object is that of the first object.
func (j *jsonlReader) isDefined(at int, name string, isList bool) bool {
	if isList != (at == j.list) || at >= len(j.names) {
		return false
	}
	if isList {
		name += "." + j.members[0]
	}
	return j.names[at] == name
}

// lacksMembers reports whether the first object has a list, and the members of its objects are
// unknown.
func (j *jsonlReader) lacksMembers() bool { return j.list >= 0 && j.members == nil }

// listMembers returns the members of the objects in the first list that is not empty, after the
// first object; nil if there is none.
func listMembers(j *jsonlReader) []string {
	for {
		if _, err := j.object(func(int, string, bool) bool { return true }); err != nil || j.members != nil {
			return j.members
		}
	}
}

// object reads one object. It returns a row for each object in its list, or one row. accept checks
// the index of the first column and the name of each member.
func (j *jsonlReader) object(accept func(at int, name string, isList bool) bool) ([]Row, error) {
	if err := j.begin('{'); err != nil {
		return nil, err // io.EOF only between two objects
	}
	j.n++
	r := make(Row, 0, len(j.names))
	at, list := 0, []Row(nil)
	for j.in.More() {
		name, value, err := j.member()
		if err != nil {
			return nil, err
		}
		isList := value == json.Delim('[')
		if isList {
			if list, err = j.objects(); err != nil {
				return nil, fmt.Errorf("object %d: %q: %w", j.n, name, err)
			}
			at = len(r)
		}
		if !accept(len(r), name, isList) {
			return nil, fmt.Errorf("object %d: member %d is %q, which is another column", j.n, len(r)+1, name)
		}
		if isList {
			r = append(r, make(Row, len(j.members))...)
			continue
		}
		cell, err := cellOf(value)
		if err != nil {
			return nil, fmt.Errorf("object %d: %v %w", j.n, name, err)
		}
		r = append(r, cell)
	}
	_, err := j.in.Token()
	return spread(r, at, list), inside(err)
}

// objects reads the objects of a list after its bracket. The first object of all lists defines their
// members.
func (j *jsonlReader) objects() ([]Row, error) {
	var list []Row
	for j.in.More() {
		if err := j.begin('{'); err != nil {
			return nil, inside(err)
		}
		if len(list) == MaxRows {
			return nil, errLongList
		}
		var r Row
		defined := j.members != nil
		for j.in.More() {
			name, value, err := j.member()
			if err != nil {
				return nil, err
			}
			if !defined {
				j.members = append(j.members, name)
			} else if len(r) >= len(j.members) || j.members[len(r)] != name {
				return nil, fmt.Errorf("member %d is %q, which is another column", len(r)+1, name)
			}
			cell, err := cellOf(value)
			if err != nil {
				return nil, fmt.Errorf("%v %w", name, err)
			}
			r = append(r, cell)
		}
		if _, err := j.in.Token(); err != nil {
			return nil, inside(err)
		}
		if len(r) == 0 || len(r) != len(j.members) {
			return nil, fmt.Errorf("an object has %d members, not %d", len(r), len(j.members))
		}
		list = append(list, r)
	}
	_, err := j.in.Token()
	return list, inside(err)
}

// begin reads the start of an object.
func (j *jsonlReader) begin(start json.Delim) error {
	token, err := j.in.Token()
	if err == nil && token != start {
		err = fmt.Errorf("object %d: got %v", j.n+1, token)
	}
	return err
}

// member reads the name of a member and the first token of its value.
func (j *jsonlReader) member() (name string, value json.Token, err error) {
	token, err := j.in.Token()
	if err != nil {
		return "", nil, inside(err)
	}
	name, _ = token.(string)
	value, err = j.in.Token()
	return name, value, inside(err)
}

// errLongList is the error of a list that no answer has.
var errLongList = fmt.Errorf("has more than %d entries", MaxRows)

// spread returns a copy of a row for each element of its list, with the element's cells from column
// at on; the row itself if there are none.
func spread(r Row, at int, list []Row) []Row {
	if len(list) == 0 {
		return []Row{r}
	}
	for i, element := range list {
		list[i] = slices.Concat(r[:at], element, r[min(at+len(element), len(r)):])
	}
	return list
}

// inside is the error of reading within an object: io.EOF becomes io.ErrUnexpectedEOF.
func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errNoCell = errors.New("is neither text, number, boolean nor null")

func cellOf(value json.Token) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return cmp.Or(v, EmptyText), nil
	case bool:
		return strconv.FormatBool(v), nil
	case json.Number:
		return v.String(), nil
	}
	return "", errNoCell
}
