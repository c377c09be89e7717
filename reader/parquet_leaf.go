package reader

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader/pages"
)

const (
	// leafBatch is the number of values of a column that are decoded at once.
	leafBatch = 128
	// batchText is the size from which a text of fields ends, in bytes: any field retains the whole text.
	batchText = 8 << 10
)

// leaf reads the values of one leaf column of the schema, page by page.
type leaf struct {
	index    int
	repeated bool
	bytes    bool          // its values are byte arrays
	most     int           // Options.MaxRecord
	form     *node         // of the fields; nil if no column is this leaf alone
	source   *pages.Values // nil before the first row group
	batch    [leafBatch]parquet.Value
	next, n  int             // the index of the next value of batch, and the number of values there
	values   []parquet.Value // values of the current row: one, or several of a repeated column
	size     int             // bytes of the values
	fields   [leafBatch]field
	made     int // the number of fields, which are those of the first values of batch
	text     []byte
	ends     [leafBatch]int
}

// field is a value as a field.
type field struct {
	text   string // valid UTF-8
	null   bool
	binary bool // the value is not valid UTF-8
}

func fieldOf(text string, null bool) field {
	if utf8.ValidString(text) {
		return field{text, null, false}
	}
	return field{strings.ToValidUTF8(text, "\ufffd"), null, true}
}

func (l *leaf) open(file *pages.File, group int) {
	if l.source != nil {
		l.source.Close()
	}
	l.source, l.values, l.next, l.n, l.made = file.Values(group, l.index), nil, 0, 0, 0
}

// read sets the values to those of the next row, if their size is at most limit.
func (l *leaf) read(limit int) error {
	if l.next == l.n {
		if err := l.fill(); err == io.EOF {
			return fmt.Errorf("%w: a column has fewer rows than its row group", pages.ErrDamaged)
		} else if err != nil {
			return err
		}
	}
	if !l.repeated {
		l.values = l.batch[l.next : l.next+1]
		l.size = l.sizeOf(&l.batch[l.next])
		l.next++
		return nil
	}
	if cap(l.values) > keptValues {
		l.values = nil
	}
	l.values, l.size = l.values[:0], 0
	l.take(limit)
	for {
		if l.next == l.n {
			if err := l.fill(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
		if l.batch[l.next].RepetitionLevel() == 0 {
			return nil
		}
		l.size += len("0,") // each element has a character and a comma, at least
		l.take(limit)
	}
}

// take takes the next value. A row that is too long has no values.
func (l *leaf) take(limit int) {
	v := &l.batch[l.next]
	if l.size += l.sizeOf(v); l.size <= limit {
		l.values = append(l.values, v.Clone()) // the next page may take the memory of this one
	} else {
		l.values = nil
	}
	l.next++
}

// field returns the current value, of a column that is not repeated.
func (l *leaf) field() field {
	if l.next > l.made {
		l.makeFields()
	}
	return l.fields[l.next-1]
}

// sameField is the end of a field that is the one before.
const sameField = -1

// makeFields makes the fields from the current value on. Their texts share the memory of one string.
func (l *leaf) makeFields() {
	first, at := l.next-1, l.next-1
	l.text = l.text[:0]
	for ; at < l.n && (at == first || len(l.text) < batchText); at++ {
		v := &l.batch[at]
		if at > first && *v == l.batch[at-1] { // a text of a dictionary is in one place
			l.ends[at] = sameField
			continue
		}
		null := v.DefinitionLevel() < l.form.def
		if !null && l.sizeOf(v) <= l.most { // the row is too long otherwise
			l.text = l.form.append(l.text, *v)
		}
		l.fields[at].null, l.ends[at] = null, len(l.text)
	}
	l.made = at
	text, start := string(l.text), 0
	valid := utf8.ValidString(text)
	for at := first; at < l.made; at++ {
		f := &l.fields[at]
		if l.ends[at] == sameField {
			*f = l.fields[at-1]
			continue
		}
		if f.text, f.binary = text[start:l.ends[at]], false; !valid {
			*f = fieldOf(f.text, f.null)
		}
		start = l.ends[at]
	}
	if cap(l.text) > 2*batchText {
		l.text = nil
	}
}

// sizeOf returns the number of bytes of a byte array.
func (l *leaf) sizeOf(v *parquet.Value) int {
	if !l.bytes {
		return 0
	}
	return len(v.ByteArray())
}

// keptValues is the most values of a list whose memory is kept for the next row.
const keptValues = 1 << 12

// fill reads the next values; io.EOF after the last value of the row group.
func (l *leaf) fill() error {
	n, err := l.source.Read(l.batch[:])
	l.next, l.n, l.made = 0, n, 0
	return err
}
