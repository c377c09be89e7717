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

// maxHead is how much of a page its character set is told by. Browsers start
// over when a meta element names one later than that.
const maxHead = 16 << 10

// decode turns r into UTF-8. Unlike charset.NewReader it leaves r's error where
// it stands: that one takes a message cut off in its first bytes for a whole one.
func decode(r *bufio.Reader, contentType string) io.Reader {
	head, _ := r.Peek(maxHead)
	enc := detect(head, contentType)
	if enc == encoding.Nop {
		return r
	}
	return enc.NewDecoder().Reader(r)
}

// detect tells the character set of a page by its beginning. What the page or
// its header claims holds, unless the bytes show that one of the two most common
// claims, UTF-8 and Windows-1252, is a server's or an editor's default.
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
	case name == "windows-1252" && valid > 0 && broken == 0:
		return encoding.Nop
	case name == "windows-1252" && valid == 0 && broken == 0:
		return encoding.Nop // plain ASCII so far; what follows will be UTF-8
	case name == "utf-8" && valid == 0 && broken > 0:
		return charmap.Windows1252
	case name == "utf-8":
		return encoding.Nop // broken bytes are dropped later
	}
	return enc
}

// lateMeta returns text from the first meta element on that speaks of a charset,
// or nil.
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

// countRunes counts the characters beyond ASCII that are valid UTF-8, and the
// bytes that are not. The end of text may cut one character.
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
