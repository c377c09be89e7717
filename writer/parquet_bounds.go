package writer

import (
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// maxBound is the length at which the bounds of a page are cut, in bytes. The upper bound may have one byte more. Addresses and
// titles differ within this length.
const maxBound = 64

// textType is Parquet's string type with cut bounds, which the format allows. The library holds the bounds of all pages in
// memory until the file ends.
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

// lowerBound returns text, cut to at most maxBound bytes between characters.
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

// upperBound returns text itself if it is short. Otherwise it returns the lower bound with its last character replaced by the
// next character, which is greater than text: UTF-8 sorts as its characters do.
func upperBound(text []byte) []byte {
	if len(text) <= maxBound {
		return text
	}
	for head := lowerBound(text); len(head) > 0; {
		last, size := utf8.DecodeLastRune(head)
		head = head[:len(head)-size]
		switch {
		case last == utf8.RuneError && size < 2: // invalid UTF-8
			return text
		case last == utf8.MaxRune:
			continue
		case last == 0xD7FF:
			last = 0xDFFF // skips the surrogates, which are not characters
		}
		return utf8.AppendRune(slices.Clip(head), last+1)
	}
	return text
}
