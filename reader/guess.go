package reader

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"
)

// guessed decodes text of an unknown encoding. The encoding is UTF-8 unless
//
//   - the first 64 KiB look like UTF-16: the high byte is zero in at least a quarter of the code units, and
//     the low byte is zero in at most a tenth as many;
//   - or the 64 KiB from the first byte beyond ASCII look like Windows-1252: see looksWindows1252.
//
// So valid UTF-8 without zero bytes is always recognized as UTF-8.
type guessed struct {
	src   *bufio.Reader // with a buffer of 64 KiB
	text  io.Reader     // src decoded; nil until the first byte beyond ASCII
	found func(encoding string)
}

// guess checks for UTF-16 at once, because its ASCII bytes are not text.
func guess(src *bufio.Reader, found func(encoding string)) io.Reader {
	g := &guessed{src: src, found: found}
	beginning, _ := src.Peek(readSize) // the next Read returns an error met here
	if name := looksUTF16(beginning); name != "" {
		g.decodeAs(name)
	}
	return g
}

func (g *guessed) decodeAs(name string) {
	g.text = g.src
	if name != utf8Name {
		g.text = decoded(g.src, name)
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
	name := utf8Name
	if looksWindows1252(window, err != nil) {
		name = "windows-1252"
	}
	g.decodeAs(name)
	return g.text.Read(p)
}

// looksUTF16 recognizes UTF-16 by its zero bytes, which text in other encodings does not have. The second byte of an ASCII
// character is zero in little-endian order, and the first in big-endian order. It returns "" for other encodings.
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

// looksWindows1252 reports whether text that starts with a byte beyond ASCII is Windows-1252 and not UTF-8. It must have more
// invalid bytes than valid characters of UTF-8 beyond ASCII, no control characters, and no bytes that Windows-1252 leaves
// undefined. More than half of its letters beyond ASCII must be single or in pairs, as in the languages of Western Europe.
// Longer runs, as in Cyrillic or Chinese, mean another encoding. whole is false if text is cut off, perhaps within a character.
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
		case !whole && !utf8.FullRune(rest): // the end of the window cuts off the character
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

// foreignLetters counts the bytes that are letters beyond ASCII in Windows-1252, and how many of them are in runs of three or
// more. It excludes characters that occur next to letters: dashes, quotation marks and the no-break space.
func foreignLetters(text []byte) (all, together int) {
	for len(text) > 0 {
		n := 0
		for n < len(text) && text[n] > 0xa0 && text[n] != 0xab && text[n] != 0xbb {
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

// asciiLen returns the number of ASCII bytes at the start of text.
func asciiLen(text []byte) int {
	for i, b := range text {
		if b >= utf8.RuneSelf {
			return i
		}
	}
	return len(text)
}
