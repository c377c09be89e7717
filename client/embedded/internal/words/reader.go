// Package words reads texts as words, and knows the languages of titles: their stems, their function words, and which words
// belong to a language. It knows nothing of categories.
package words

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxWord is the most bytes of a word. Words of taxonomies are shorter. Base64 and minified scripts are longer.
	MaxWord = 32
	// maxText is the most bytes of a text that are read. A page shows its subject in the first few thousand words.
	maxText = 1 << 20
)

// Reader splits a text into words: runs of letters and digits in lower case, Latin letters without accents. It removes an
// apostrophe ("o'neill" is "oneill"), "'s" at the end of a word, and the hyphen after a single letter ("t-shirt" is "tshirt").
//
// A Reader allocates nothing once its buffer has grown.
type Reader struct {
	Word     []byte // the current word, valid until the next call of Next
	Gap      rune   // the punctuation before the word, preferably an opening bracket; 0 for only spaces or the hyphen of a compound
	HasDigit bool   // the word holds a digit
	IsOwner  bool   // an "'s" followed the word

	text  string
	at    int
	start int // where the current word starts
}

// Reset makes r read text, or its first megabyte.
func (r *Reader) Reset(text string) {
	if len(text) > maxText {
		text = text[:maxText]
	}
	r.text, r.at, r.start, r.Word = text, 0, 0, r.Word[:0]
}

// Next reads the next word and reports whether there was one.
func (r *Reader) Next() bool {
	r.Word, r.Gap, r.HasDigit, r.IsOwner = r.Word[:0], 0, false, false
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
			apostrophe = len(r.Word)
		case c == '-' && len(r.Word) == 1 && !r.HasDigit && r.letterAt(r.at+size):
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

// Spelled returns the length in bytes of the current word as it is spelled in the text.
func (r *Reader) Spelled() int { return r.at - r.start }

// IsInCompound reports whether only a hyphen separates the current word from the previous word.
func (r *Reader) IsInCompound() bool { return r.Gap == 0 && r.start > 0 && r.text[r.start-1] == '-' }

// skip moves to the next word, and sets Gap to the punctuation before it.
func (r *Reader) skip() bool {
	spaced := false
	for r.at < len(r.text) {
		c, size := r.peek()
		if isWordRune(c) {
			return true
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			spaced = true
		case c == '-' && !spaced && r.Gap == 0:
		case !isApostrophe(c) && r.Gap != '(' && r.Gap != '[':
			r.Gap = c
		}
		r.at += size
	}
	return false
}

// peek decodes the rune at r.at.
func (r *Reader) peek() (rune, int) {
	if c := r.text[r.at]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(r.text[r.at:])
}

func (r *Reader) letterAt(i int) bool {
	return i < len(r.text) && (r.text[i]|0x20) >= 'a' && (r.text[i]|0x20) <= 'z'
}

// push appends a folded rune to the word, up to MaxWord.
func (r *Reader) push(c rune) {
	if c >= '0' && c <= '9' {
		r.HasDigit = true
	}
	if len(r.Word) < MaxWord {
		r.Word = utf8.AppendRune(r.Word, fold(c))
	}
}

// dropPossessive removes an "'s" at the end of the word.
func (r *Reader) dropPossessive(apostrophe int) {
	if n := len(r.Word); apostrophe > 0 && apostrophe == n-1 && r.Word[n-1] == 's' {
		r.Word, r.IsOwner = r.Word[:n-1], true
	}
}

// All yields the words in the first megabyte of a text, in lower case and without accents. A word is valid only until the next word.
func All(text string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		r := Reader{Word: make([]byte, 0, MaxWord+utf8.UTFMax)}
		for r.Reset(text); r.Next() && yield(r.Word); {
		}
	}
}

func isWordRune(c rune) bool {
	if c < utf8.RuneSelf {
		return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.Is(unicode.Mn, c))
}

// IsSeparator reports whether a character is between words. It is false for combining characters, which are parts of letters in
// many scripts.
func IsSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
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
