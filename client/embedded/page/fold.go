package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A folder collects text with its white space folded: every run of it becomes
// one space, and none stands at either end. It keeps at most max bytes, cut
// between characters.
type folder struct {
	max   int
	text  strings.Builder
	space bool // white space was seen since the last character
	full  bool
}

func (f *folder) write(text string) {
	for i := 0; i < len(text) && !f.full; {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			f.space = true
		case r == utf8.RuneError || unicode.Is(unicode.Cf, r):
			// Broken bytes, byte order marks, soft hyphens, zero-width joiners:
			// invisible, and in the way of telling words apart.
		default:
			f.add(r)
		}
	}
}

func (f *folder) add(r rune) {
	need := utf8.RuneLen(r)
	gap := f.space && f.text.Len() > 0
	if gap {
		need++
	}
	if f.text.Len()+need > f.max {
		f.full = true
		return
	}
	if gap {
		f.text.WriteByte(' ')
	}
	f.space = false
	f.text.WriteRune(r)
}

// gap parts what was written from what will be, as the edge of a block does.
func (f *folder) gap() { f.space = true }

func (f *folder) String() string { return f.text.String() }

func fold(text string, max int) string {
	f := folder{max: max}
	f.write(text)
	return f.String()
}
