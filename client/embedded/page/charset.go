package page

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// maxHead is the number of bytes in which detect looks for the character set. Browsers reload a page whose meta element comes
// later.
const maxHead = 16 << 10

// decode converts r to UTF-8. Unlike charset.NewReader, it keeps the error of a body that breaks
// off in its first bytes.
func decode(r *bufio.Reader, contentType string) io.Reader {
	head, _ := r.Peek(maxHead)
	enc := detect(head, contentType)
	if enc == encoding.Nop {
		return r
	}
	return enc.NewDecoder().Reader(r)
}

// detect returns the character set of a page from its first bytes and its header. A declared character set counts. But UTF-8
// and Windows-1252, the defaults of servers and editors, do not count if the bytes contradict them.
func detect(head []byte, contentType string) encoding.Encoding {
	enc, name, certain := charset.DetermineEncoding(head, contentType)
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		return encoding.Nop
	}
	if !certain && len(head) > 1024 { // as much as DetermineEncoding looks at
		if meta := lateMeta(head[1024-64:]); meta != nil {
			enc, name, _ = charset.DetermineEncoding(meta, "")
		}
	}
	valid, broken := countRunes(head)
	switch {
	case name == "windows-1252" && broken == 0:
		return encoding.Nop // UTF-8, or plain ASCII so far, where UTF-8 is likely
	case name == "utf-8" && valid == 0 && broken > 0:
		return charmap.Windows1252
	case name == "utf-8":
		return encoding.Nop // broken bytes are dropped later
	}
	return enc
}

// lateMeta returns the text that begins with the first meta element with a charset; nil if there is none.
func lateMeta(text []byte) []byte {
	for {
		at := bytes.Index(text, []byte("<meta"))
		if at < 0 {
			if at = bytes.Index(text, []byte("<META")); at < 0 {
				return nil
			}
		}
		text = text[at:]
		end := bytes.IndexByte(text, '>')
		if end < 0 {
			return nil
		}
		if bytes.Contains(bytes.ToLower(text[:end]), []byte("charset")) {
			return text
		}
		text = text[end:]
	}
}

// countRunes counts the characters beyond ASCII that are valid UTF-8, and the bytes that are not. It ignores an incomplete
// character at the end.
func countRunes(text []byte) (valid, broken int) {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			valid++
		case utf8.FullRune(text[i:]):
			broken++
		}
		i += size
	}
	return valid, broken
}
