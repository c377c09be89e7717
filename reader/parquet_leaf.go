package reader

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader/internal/pages"
)

// sharedText is the size in bytes of a text that fields share. It is small, because any field retains the whole text.
const sharedText = 8 << 10

// leaf reads the values of one leaf column of the schema, page by page.
type leaf struct {
	*node
	most   int // Options.MaxRecord
	source *pages.Values
	batch  []parquet.Value // of source
	next   int             // index of the next value in batch
	values []parquet.Value // of the current row: one, or any number for a repeated column
	size   int             // bytes of the values
	last   field           // of the value before index made in batch
	made   int             // 0 if there is no such value
	text   []byte          // memory for the next field
	texts  strings.Builder // of fields
}

// field is the text of a value.
type field struct {
	text    string // valid UTF-8
	null    bool
	binary  bool // the value is not valid UTF-8
	encoded bool // the value is bytes that are no text, and text is their base64
}

func fieldOf(text string, null bool) field {
	if utf8.ValidString(text) {
		return field{text: text, null: null}
	}
	return field{text: strings.ToValidUTF8(text, "\ufffd"), null: null, binary: true}
}

// read sets values to the values of the next row, or to none if their size exceeds limit.
func (l *leaf) read(limit int) error {
	if err := l.fill(); err != nil {
		return err
	}
	if l.rep == 0 {
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
		switch err := l.fill(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case l.batch[l.next].RepetitionLevel() == 0:
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
	at := l.next - 1
	switch {
	case l.made == l.next: // several columns have the field
	case l.made == at && at > 0 && l.batch[at] == l.batch[at-1]: // equal dictionary values share their memory
	default:
		l.last = l.newField(&l.batch[at])
	}
	l.made = l.next
	return l.last
}

func (l *leaf) newField(v *parquet.Value) field {
	if v.DefinitionLevel() < l.def {
		return field{null: true}
	}
	if l.sizeOf(v) > l.most { // the row is a fault
		return field{}
	}
	l.text = l.append(l.text[:0], *v)
	size := len(l.text)
	if l.texts.Len()+size > l.texts.Cap() {
		l.texts.Reset()
		l.texts.Grow(max(size, sharedText))
	}
	l.texts.Write(l.text)
	if size > sharedText {
		l.text = nil
	}
	f := fieldOf(l.texts.String()[l.texts.Len()-size:], false)
	f.encoded = l.untyped && size > len(v.ByteArray())
	return f
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

// fill reads the next values if batch is used up; io.EOF after the last value.
func (l *leaf) fill() (err error) {
	if l.next == len(l.batch) {
		l.batch, err = l.source.Read()
		l.next, l.made = 0, 0
	}
	return err
}
