package reader

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

var (
	bomUTF8    = []byte{0xef, 0xbb, 0xbf}
	bomUTF16LE = []byte{0xff, 0xfe}
	bomUTF16BE = []byte{0xfe, 0xff}
)

const utf8Name = "utf-8"

// ownEncodings replace encodings of package htmlindex. A byte order mark has priority over the byte order in the name. Without
// either, UTF-16 is little-endian, as in the WHATWG Encoding Standard and on Windows. The decoder of gbk is the decoder of
// gb18030, as in the standard (§10.1.1).
var ownEncodings = map[string]encoding.Encoding{
	"utf-16":   unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16le": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16be": unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	"gbk":      simplifiedchinese.GB18030,
}

// encodingOf returns the encoding for a label of the WHATWG Encoding Standard, such as latin1, and its name; false for other
// labels, and for encodings that the standard does not decode.
func encodingOf(label string) (name string, e encoding.Encoding, known bool) {
	if own := ownEncodings[label]; own != nil {
		return label, own, true
	}
	e, err := htmlindex.Get(label)
	if err != nil || e == encoding.Replacement {
		return "", nil, false
	}
	if name, err = htmlindex.Name(e); err != nil {
		return "", nil, false
	}
	if own := ownEncodings[name]; own != nil {
		e = own
	}
	return name, e, true
}

// decode returns r as UTF-8 without a byte order mark, and the name of its encoding if that is known and not utf-8. Without a
// byte order mark and a name, decode guesses the encoding, and calls found if it is not utf-8. If found is nil, it does not
// guess. Bytes that are invalid in the encoding become invalid UTF-8, which makes their row malformed.
func decode(r *bufio.Reader, name string, found func(encoding string)) (text io.Reader, encoding string) {
	bom, _ := r.Peek(len(bomUTF8)) // the next Read returns an error met here
	if name == "" && (bytes.HasPrefix(bom, bomUTF16LE) || bytes.HasPrefix(bom, bomUTF16BE)) {
		name = "utf-16"
	}
	if name != "" && name != utf8Name {
		return decoded(r, name), name
	}
	if bytes.Equal(bom, bomUTF8) {
		r.Discard(len(bomUTF8)) // cannot fail: these bytes are buffered
		return r, ""
	}
	if name == "" && found != nil {
		return guess(r, found), ""
	}
	return r, ""
}

// decoded decodes text in a known encoding that is not utf-8.
func decoded(r io.Reader, name string) io.Reader {
	_, e, _ := encodingOf(name)
	return transform.NewReader(r, strictDecoder{e.NewDecoder(), name})
}

// strictDecoder decodes invalid bytes to invalid UTF-8, and returns an error for text that ends within a character. Other
// decoders return U+FFFD for both.
type strictDecoder struct {
	transform.Transformer
	encoding string
}

func (d strictDecoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = d.Transformer.Transform(dst, src, false)
	if err == transform.ErrShortSrc && atEOF {
		err = fmt.Errorf("the text ends within a character of %s: %w", d.encoding, io.ErrUnexpectedEOF)
	}
	const invalid = "\xff" // never in UTF-8
	if replaced := []byte("\ufffd"); bytes.Contains(dst[:nDst], replaced) {
		nDst = copy(dst, bytes.ReplaceAll(dst[:nDst], replaced, []byte(invalid)))
	}
	return nDst, nSrc, err
}
