package words

import (
	"strings"
	"unicode"
)

// Lexicon has the words of the names in one language.
type Lexicon struct {
	*Language
	words map[string]bool // stemmed words; in a language without spaces, the alternatives in names
}

// NewLexicon returns the lexicon of the names in a language.
func NewLexicon(names map[string]string, lang *Language) *Lexicon {
	k := &Lexicon{lang, make(map[string]bool)}
	for _, name := range names {
		if lang.Spaceless {
			for _, a := range Alternatives(name) {
				k.words[a] = true
			}
			continue
		}
		for word := range All(name) {
			k.words[string(lang.Stem(word))] = true
		}
	}
	return k
}

// longestName is the most runes of a name that longest finds.
const longestName = 12

// Separate writes spaces around the words of a text. A space of the text becomes a comma, because it separates a product's name
// from its features. A word is the longest known name, or the runes up to the next known name or the next script. If split, a
// text that is one known name is split into shorter names.
func (k *Lexicon) Separate(text string, split bool) string {
	var b strings.Builder
	runes := []rune(text)
	for at := 0; at < len(runes); {
		c := runes[at]
		if scriptOf(c) == nil {
			if unicode.IsSpace(c) {
				b.WriteByte(',')
			}
			b.WriteRune(c)
			at++
			continue
		}
		n := k.longest(runes[at:], split && at == 0)
		if n == 0 {
			for n = 1; at+n < len(runes) && scriptOf(runes[at+n]) == scriptOf(c) && k.longest(runes[at+n:], false) == 0; n++ {
			}
		}
		b.WriteByte(' ')
		b.WriteString(string(runes[at : at+n]))
		b.WriteByte(' ')
		at += n
	}
	return b.String()
}

// longest returns the number of runes of the longest known name at the start of a text; 0 if there is none. If shorter, the
// name must be shorter than the text.
func (k *Lexicon) longest(text []rune, shorter bool) int {
	most := len(text)
	if shorter {
		most--
	}
	for n := min(most, longestName); n > 0; n-- {
		if k.words[string(text[:n])] {
			return n
		}
	}
	return 0
}

// scriptOf returns the script of a rune, if that is a script without spaces; else nil.
func scriptOf(c rune) *unicode.RangeTable {
	if c < 0x3000 || c == '・' {
		return nil
	}
	for _, script := range []*unicode.RangeTable{unicode.Katakana, unicode.Hiragana, unicode.Han} {
		if unicode.Is(script, c) || c == 'ー' {
			return script
		}
	}
	return nil
}

// Alternatives returns the parts of a name: "ワンピース" and "ドレス" for "ワンピース・ドレス".
func Alternatives(name string) []string {
	return strings.FieldsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != 'ー' })
}

// SplitCompounds returns a phrase with its compounds split in two: "Nachttisch lampe" for "Nachttischlampe". found reports
// whether there are any.
func (k *Lexicon) SplitCompounds(phrase string) (split string, found bool) {
	var words []string
	for w := range All(phrase) {
		word := string(w)
		for from := range k.LastParts(word) {
			if k.words[string(k.Stem([]byte(word[from:])))] {
				words, word, found = append(words, word[:from]), word[from:], true
				break
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, " "), found
}
