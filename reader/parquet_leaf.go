package reader

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader/internal/pages"
)

const (
	// leafBatch is the number of values of a column that are decoded at once.
	leafBatch = pages.MostValues
	// batchText is the size in bytes at which a shared text of fields ends, because any field retains the whole text.
	batchText = 8 << 10
)

// leaf reads the values of one leaf column of the schema, page by page.
type leaf struct {
	index    int
	repeated bool
	bytes    bool          // its values are byte arrays
	most     int           // Options.MaxRecord
	form     *node         // formats the fields; nil if the leaf is only a part of columns
	source   *pages.Values // nil before the first row group
	batch    [leafBatch]parquet.Value
	next, n  int             // index of the next value in batch, and number of values there
	values   []parquet.Value // of the current row: one, or any number for a repeated column
	size     int             // bytes of the values
	fields   [leafBatch]field
	made     int // number of values of batch whose fields are made
	text     []byte
	ends     [leafBatch]int
}

// field is the text of a value.
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

// read sets values to the values of the next row, or to none if their size exceeds limit.
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
		l.size += len("0,") // an element has at least a character and a comma
		l.take(limit)
	}
}

// take appends the next value. If the row is longer than limit, it drops all values.
func (l *leaf) take(limit int) {
	v := &l.batch[l.next]
	if l.size += l.sizeOf(v); l.size <= limit {
		l.values = append(l.values, v.Clone()) // the next page may reuse the memory of this page
	} else {
		l.values = nil
	}
	l.next++
}

// field returns the field of the current value. The column is not repeated.
func (l *leaf) field() field {
	if l.next > l.made {
		l.makeFields()
	}
	return l.fields[l.next-1]
}

// sameField is in ends for a field that is equal to the previous field.
const sameField = -1

// makeFields makes fields from the current value on. Their texts share the memory of one string.
func (l *leaf) makeFields() {
	first, at := l.next-1, l.next-1
	l.text = l.text[:0]
	for ; at < l.n && (at == first || len(l.text) < batchText); at++ {
		v := &l.batch[at]
		if at > first && *v == l.batch[at-1] { // equal dictionary values share their memory
			l.ends[at] = sameField
			continue
		}
		null := v.DefinitionLevel() < l.form.def
		if !null && l.sizeOf(v) <= l.most { // longer rows are faults
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

// keptValues is the largest capacity of values that is kept for the next row.
const keptValues = 1 << 12

// fill reads the next values; io.EOF after the last value of the row group.
func (l *leaf) fill() error {
	n, err := l.source.Read(l.batch[:])
	l.next, l.n, l.made = 0, n, 0
	return err
}
