package writer

import (
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// maxBound is how many bytes of a long text its page's bounds have, but for one more that the upper
// bound may take. Within them texts such as addresses and titles differ.
const maxBound = 64

// textType is Parquet's string with bounds of bounded length, which the format allows for. The library
// holds the bounds of all pages until the file ends, and a page with a long text may have no other.
type textType struct{ parquet.Type }

func (t textType) NewColumnBuffer(columnIndex, numValues int) parquet.ColumnBuffer {
	return textBuffer{t.Type.NewColumnBuffer(columnIndex, numValues)}
}

type textBuffer struct{ parquet.ColumnBuffer }

func (b textBuffer) Page() parquet.Page { return textPage{b.ColumnBuffer.Page()} }

type textPage struct{ parquet.Page }

func (p textPage) Bounds() (least, most parquet.Value, ok bool) {
	least, most, ok = p.Page.Bounds()
	if !ok {
		return least, most, false
	}
	return parquet.ByteArrayValue(lowerBound(least.ByteArray())), parquet.ByteArrayValue(upperBound(most.ByteArray())), true
}

// lowerBound is a text itself, or the beginning of a long one.
func lowerBound(text []byte) []byte {
	if len(text) <= maxBound {
		return text
	}
	end := maxBound
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// upperBound is a text itself, or the least of the short ones above a long one: the order of UTF-8 is
// that of its characters, so the last character of the beginning becomes the next.
func upperBound(text []byte) []byte {
	if len(text) <= maxBound {
		return text
	}
	for head := lowerBound(text); len(head) > 0; {
		last, size := utf8.DecodeLastRune(head)
		head = head[:len(head)-size]
		switch {
		case last == utf8.RuneError && size < 2: // no UTF-8
			return text
		case last == utf8.MaxRune:
			continue
		case last == 0xD7FF:
			last = 0xDFFF // before the surrogates, which are no characters
		}
		return utf8.AppendRune(slices.Clip(head), last+1)
	}
	return text
}
