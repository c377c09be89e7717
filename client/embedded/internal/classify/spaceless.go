package classify

import (
	"strings"
	"unicode"
)

// longestName is the most runes of a name that is looked for within a text without spaces.
const longestName = 12

// separate writes spaces between the words of a text, and commas in place of its own spaces, which separate the features
// of a product from its name. A word is the longest known name; letters without one are a word up to the next known
// name or another script. If apart, a name that is the whole text is parted as well.
func (k *known) separate(text string, apart bool) string {
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
		n := k.longest(runes[at:], apart && at == 0)
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

// longest is the number of runes of the longest name at the start of a text, 0 if there is none. If apart, it is not all of
// the text.
func (k *known) longest(text []rune, apart bool) int {
	most := len(text)
	if apart {
		most--
	}
	for n := min(most, longestName); n > 0; n-- {
		if k.words[string(text[:n])] {
			return n
		}
	}
	return 0
}

// scriptOf returns the script of a rune that is written without spaces, nil for others.
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

// alternatives are the parts of a name: "ワンピース・ドレス" is "ワンピース" or "ドレス".
func alternatives(name string) []string {
	return strings.FieldsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != 'ー' })
}
