package reader

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"slices"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

var (
	bomUTF8    = []byte{0xef, 0xbb, 0xbf}
	bomUTF16LE = []byte{0xff, 0xfe}
	bomUTF16BE = []byte{0xfe, 0xff}
)

// encodings are the encodings other than utf-8. A byte order mark has priority over the byte order in the name.
// Without either, UTF-16 is little-endian, as in the WHATWG Encoding Standard and on Windows.
var encodings = map[string]encoding.Encoding{
	"utf-16":       unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	"windows-1252": charmap.Windows1252,
}

func knownEncoding(name string) bool {
	return name == "" || name == "utf-8" || encodings[name] != nil
}

func encodingNames() []string {
	return append([]string{"utf-8"}, slices.Sorted(maps.Keys(encodings))...)
}

// decode returns r as UTF-8 without a byte order mark. Without a byte order mark and a name it guesses the
// encoding, and calls found with the result unless it is utf-8; a nil found means no guess. Invalid bytes of
// utf-8 input are kept, and make their row malformed. In other encodings an invalid sequence becomes U+FFFD.
func decode(r *bufio.Reader, name string, found func(encoding string)) io.Reader {
	bom, _ := r.Peek(len(bomUTF8)) // the next Read returns an error met here
	if name == "" && (bytes.HasPrefix(bom, bomUTF16LE) || bytes.HasPrefix(bom, bomUTF16BE)) {
		name = "utf-16"
	}
	if e := encodings[name]; e != nil {
		return transform.NewReader(r, e.NewDecoder())
	}
	if bytes.Equal(bom, bomUTF8) {
		r.Discard(len(bomUTF8)) // cannot fail: these bytes are buffered
		return r
	}
	if name == "" && found != nil {
		return guess(r, found)
	}
	return r
}
