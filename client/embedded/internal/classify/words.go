package classify

import (
	"unicode"
	"unicode/utf8"
)

const (
	// maxWord is the most bytes of a word. Words of taxonomies are shorter. Base64 and minified scripts are longer.
	maxWord = 32
	// maxText is the most bytes of a text that are read. A page shows its subject in the first few thousand words.
	maxText = 1 << 20
)

// reader splits a text into words: runs of letters and digits in lower case, Latin letters without accents. It removes an
// apostrophe ("o'neill" is "oneill"), "'s" at the end of a word, and the hyphen after a single letter ("t-shirt" is "tshirt").
//
// A reader allocates nothing once its buffer has grown.
type reader struct {
	text     string
	at       int
	start    int    // where the current word starts
	word     []byte // the current word, valid until the next call of next
	gap      rune   // the punctuation before the word, preferably an opening bracket; 0 for only spaces or the hyphen of a compound
	hasDigit bool   // the word holds a digit
	isOwner  bool   // an "'s" followed the word
}

// reset makes r read text, or its first megabyte.
func (r *reader) reset(text string) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	r.text, r.at, r.start, r.word = text, 0, 0, r.word[:0]
}

// next reads the next word and reports whether there was one.
func (r *reader) next() bool {
	r.word, r.gap, r.hasDigit, r.isOwner = r.word[:0], 0, false, false
	if !r.skip() {
		return false
	}
	r.start = r.at
	apostrophe := -1 // length of the word before its last apostrophe
	for r.at < len(r.text) {
		c, size := r.peek()
		switch {
		case isWordRune(c):
			r.push(c)
		case isApostrophe(c):
			apostrophe = len(r.word)
		case c == '-' && len(r.word) == 1 && !r.hasDigit && r.letterAt(r.at+size):
			// "t-shirt"
		default:
			r.dropPossessive(apostrophe)
			return true
		}
		r.at += size
	}
	r.dropPossessive(apostrophe)
	return true
}

// skip moves to the next word, and sets gap to the punctuation before it.
func (r *reader) skip() bool {
	spaced := false
	for r.at < len(r.text) {
		c, size := r.peek()
		if isWordRune(c) {
			return true
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			spaced = true
		case c == '-' && !spaced && r.gap == 0:
		case !isApostrophe(c) && r.gap != '(' && r.gap != '[':
			r.gap = c
		}
		r.at += size
	}
	return false
}

// peek decodes the rune at r.at.
func (r *reader) peek() (rune, int) {
	if c := r.text[r.at]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(r.text[r.at:])
}

func (r *reader) letterAt(i int) bool {
	return i < len(r.text) && (r.text[i]|0x20) >= 'a' && (r.text[i]|0x20) <= 'z'
}

// push appends a folded rune to the word, up to maxWord.
func (r *reader) push(c rune) {
	if c >= '0' && c <= '9' {
		r.hasDigit = true
	}
	if len(r.word) < maxWord {
		r.word = utf8.AppendRune(r.word, fold(c))
	}
}

// dropPossessive removes an "'s" at the end of the word.
func (r *reader) dropPossessive(apostrophe int) {
	if n := len(r.word); apostrophe > 0 && apostrophe == n-1 && r.word[n-1] == 's' {
		r.word, r.isOwner = r.word[:n-1], true
	}
}

func isWordRune(c rune) bool {
	if c < utf8.RuneSelf {
		return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.Is(unicode.Mn, c))
}

func isApostrophe(c rune) bool { return c == '\'' || c == '’' || c == '`' }

// foldedLatin holds the base letters of U+00C0 to U+017F, in their order.
const foldedLatin = "aaaaaaaceeeeiiiidnooooo*ouuuuytsaaaaaaaceeeeiiiidnooooo*ouuuuyty" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// fold returns c in lower case, without an accent if it is a Latin letter.
func fold(c rune) rune {
	switch {
	case c >= 'A' && c <= 'Z':
		return c + ('a' - 'A')
	case c < 0xC0:
		return c
	case c < 0x180:
		return rune(foldedLatin[c-0xC0])
	}
	return unicode.ToLower(c)
}
