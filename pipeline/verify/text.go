package verify

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// csvReader reads delimited text. Inside quotes encoding/csv reads CR LF as LF, so values that
// are compared with its cells must be changed in the same way: see [sameText].
type csvReader struct {
	in     *csv.Reader
	header []string
}

func newCSVReader(r io.Reader, comma rune) (*csvReader, error) {
	in := csv.NewReader(r)
	in.Comma = comma
	header, err := in.Read() // also sets the number of fields of all rows
	if errors.Is(err, io.EOF) {
		return nil, errors.New("there is no header")
	}
	return &csvReader{in, header}, err
}

func (c *csvReader) columns() []string  { return c.header }
func (c *csvReader) next() (row, error) { return c.in.Read() }

// jsonlReader reads JSON objects, one after the other. The first object defines the columns; all
// objects have the same members in the same order.
type jsonlReader struct {
	in    *json.Decoder
	names []string
	first row // read ahead; nil after next has returned it
	n     int // the number of objects read
}

func newJSONLReader(r io.Reader) (*jsonlReader, error) {
	j := &jsonlReader{in: json.NewDecoder(r)}
	j.in.UseNumber()
	first, err := j.object(func(_ int, name string) bool {
		j.names = append(j.names, name)
		return true
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err == nil && len(first) == 0 {
		return nil, errors.New("object 1 has no members")
	}
	j.first = first
	return j, nil
}

// columns is nil for a file without rows.
func (j *jsonlReader) columns() []string { return slices.Clip(j.names) }

func (j *jsonlReader) next() (row, error) {
	if first := j.first; first != nil {
		j.first = nil
		return first, nil
	}
	r, err := j.object(func(i int, name string) bool { return i < len(j.names) && j.names[i] == name })
	if err == nil && len(r) != len(j.names) {
		err = fmt.Errorf("object %d has %d members, not %d", j.n, len(r), len(j.names))
	}
	return r, err
}

// object reads one object; accept checks the index and the name of each member.
func (j *jsonlReader) object(accept func(i int, name string) bool) (row, error) {
	start, err := j.in.Token()
	if err != nil {
		return nil, err // io.EOF only between objects
	}
	j.n++
	if start != json.Delim('{') {
		return nil, fmt.Errorf("object %d: got %v", j.n, start)
	}
	r := make(row, 0, len(j.names))
	for j.in.More() {
		name, err := j.in.Token()
		if err != nil {
			return nil, inside(err)
		}
		if text, ok := name.(string); !ok || !accept(len(r), text) {
			return nil, fmt.Errorf("object %d: member %d is %q, which is another column", j.n, len(r)+1, name)
		}
		value, err := j.in.Token()
		if err != nil {
			return nil, inside(err)
		}
		cell, err := cellOf(value)
		if err != nil {
			return nil, fmt.Errorf("object %d: %v %w", j.n, name, err)
		}
		r = append(r, cell)
	}
	_, err = j.in.Token()
	return r, inside(err)
}

// inside is the error of reading within an object: io.EOF becomes io.ErrUnexpectedEOF.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errNoCell = errors.New("is neither text, number nor null")

func cellOf(value json.Token) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	}
	return "", errNoCell
}
