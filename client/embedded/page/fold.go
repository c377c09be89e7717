package page

import (
	"unicode"
	"unicode/utf8"
)

// A folder collects text and folds white space: a run of white space becomes one space, or nothing at either end. It keeps at
// most max bytes, and cuts between characters.
type folder struct {
	max   int
	text  []byte
	space bool // white space was seen since the last character
	full  bool
}

func (f *folder) write(text []byte) {
	for i := 0; i < len(text) && !f.full; {
		if end := endOfVisible(text, i); end > i {
			f.add(text[i:end])
			i = end
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			f.space = true
		case r == utf8.RuneError || unicode.Is(unicode.Cf, r):
			// Invalid bytes, byte order marks, soft hyphens and zero-width joiners are
			// invisible and would split words.
		default:
			f.add(text[i : i+size])
		}
		i += size
	}
}

// endOfVisible returns the end of the run of visible ASCII at i.
func endOfVisible(text []byte, i int) int {
	for i < len(text) && ' ' < text[i] && text[i] < 0x7f {
		i++
	}
	return i
}

// add takes one character, or several of one byte each.
func (f *folder) add(chars []byte) {
	free := f.max - len(f.text)
	gap := f.space && len(f.text) > 0
	if gap {
		free--
	}
	if len(chars) > free {
		f.full = true
		if free <= 0 || chars[0] >= utf8.RuneSelf {
			return
		}
		chars = chars[:free]
	}
	if gap {
		f.text = append(f.text, ' ')
	}
	f.space = false
	f.text = append(f.text, chars...)
}

// gap separates the text before and after it, as the edge of a block does.
func (f *folder) gap() { f.space = true }

func (f *folder) String() string { return string(f.text) }

// reset makes the folder empty, with another bound.
func (f *folder) reset(max int) { *f = folder{max: max, text: f.text[:0]} }

func fold(text []byte, max int) string {
	f := folder{max: max}
	f.write(text)
	return f.String()
}
