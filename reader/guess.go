package reader

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// guessed is text whose encoding no flag names. The text is UTF-8 unless
//
//   - its first 64 KiB look like UTF-16: of the code units a quarter or more have a zero
//     as the high byte, and at most a tenth as many have one as the low byte;
//   - or the 64 KiB from the first byte beyond ASCII on look like Windows-1252: see
//     looksWindows1252.
//
// So valid UTF-8 without zero bytes is never taken for anything else, wherever its
// first letter beyond ASCII stands.
type guessed struct {
	src   *bufio.Reader // with room for 64 KiB
	text  io.Reader     // src decoded; nil until a byte beyond ASCII tells how
	found func(encoding string)
}

// guess looks for UTF-16 right away, since its bytes are no text by themselves.
func guess(src *bufio.Reader, found func(encoding string)) io.Reader {
	g := &guessed{src: src, found: found}
	beginning, _ := src.Peek(readSize) // the next Read returns an error met here
	if name := looksUTF16(beginning); name != "" {
		g.settle(name)
	}
	return g
}

func (g *guessed) settle(name string) {
	g.text = g.src
	if e := encodings[name]; e != nil {
		g.text = transform.NewReader(g.src, e.NewDecoder())
		g.found(name)
	}
}

func (g *guessed) Read(p []byte) (int, error) {
	if g.text != nil {
		return g.text.Read(p)
	}
	if _, err := g.src.Peek(1); err != nil {
		return 0, err
	}
	ahead, _ := g.src.Peek(min(g.src.Buffered(), len(p))) // cannot fail: these bytes are buffered
	if n := asciiLen(ahead); n > 0 || len(p) == 0 {
		return g.src.Read(p[:n])
	}
	window, err := g.src.Peek(readSize)
	name := "utf-8"
	if looksWindows1252(window, err != nil) {
		name = "windows-1252"
	}
	g.settle(name)
	return g.text.Read(p)
}

// looksUTF16 tells UTF-16 by its zero bytes, which text in other encodings does not have:
// of a code unit in ASCII the second byte is zero in little-endian order, the first in
// big-endian.
func looksUTF16(text []byte) (encoding string) {
	var zeros [2]int
	for i, b := range text {
		if b == 0 {
			zeros[i%2]++
		}
	}
	first, second, units := zeros[0], zeros[1], len(text)/2
	switch {
	case second > 0 && 4*second >= units && second >= 10*first:
		return "utf-16le"
	case first > 0 && 4*first >= units && first >= 10*second:
		return "utf-16be"
	}
	return ""
}

// looksWindows1252 tells whether text that starts with a byte beyond ASCII is Windows-1252
// and not UTF-8: it has more bytes that are no UTF-8 than characters that are; no control
// characters and no bytes that Windows-1252 leaves open; and most of its letters beyond
// ASCII come alone or in pairs, as in the languages of Western Europe. Runs of three or more, as
// in Cyrillic or Chinese, mean another encoding.
func looksWindows1252(text []byte, whole bool) bool {
	valid, invalid := 0, 0
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r != utf8.RuneError || n > 1:
			if r < ' ' && !bytes.ContainsRune([]byte("\t\n\r\f"), r) || r == 0x7f {
				return false
			}
			valid += min(n-1, 1)
		case !whole && !utf8.FullRune(rest): // cut off by the end of the window
		case bytes.IndexByte([]byte{0x81, 0x8d, 0x8f, 0x90, 0x9d}, rest[0]) >= 0:
			return false
		default:
			invalid++
		}
		rest = rest[n:]
	}
	letters, together := foreignLetters(text)
	return invalid > valid && (together == 0 || 2*together < letters)
}

// foreignLetters counts the bytes beyond ASCII that are letters in Windows-1252, or signs
// that do not stand beside letters, and those of them that stand together with two or
// more others.
func foreignLetters(text []byte) (all, together int) {
	for len(text) > 0 {
		n := 0
		for n < len(text) && isForeignLetter(text[n]) {
			n++
		}
		all += n
		if n > 2 {
			together += n
		}
		text = text[max(n, 1):]
	}
	return all, together
}

// isForeignLetter leaves out what French and typographers put between letters: dashes,
// quotation marks and the space that does not break.
func isForeignLetter(b byte) bool {
	return b > 0xa0 && b != 0xab && b != 0xbb
}

// asciiLen returns how many bytes of ASCII text starts with.
func asciiLen(text []byte) int {
	for i, b := range text {
		if b >= utf8.RuneSelf {
			return i
		}
	}
	return len(text)
}
