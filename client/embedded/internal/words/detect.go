package words

import (
	"math/bits"
	"slices"
	"unicode"
)

// LanguageSet has a bit for each element of Languages.
type LanguageSet uint32

const maxLanguages = 32

// Detect returns the index in Languages of the language with most of the first words of a title; NoLanguage if English has most,
// or no language has clearly more. knownWords returns a result of KnownWords, and isEnglish reports whether English has a word.
func Detect(title string, most int, knownWords func() map[string]LanguageSet, isEnglish func(word []byte) bool) int {
	if i := byScript(title); i >= 0 {
		return i
	}
	if isOnlyEnglish(title, most, isEnglish) {
		return NoLanguage // whatever other languages know: a short run does not need KnownWords, which takes 100 ms
	}
	known := knownWords()
	var own, common [maxLanguages]int // by language: the number of words that English does not have, and of words that English has, too
	var unknown []string
	words, inEnglish := 0, 0
	var r Reader
	r.Reset(title)
	for n := 0; n < most && r.Next(); n++ {
		if !r.tellsLanguage() {
			continue
		}
		words++
		in, counts := known[string(r.Word)], &own
		switch {
		case isEnglish(r.Word) || English.Function[string(r.Word)]:
			inEnglish++
			counts = &common
		case in == 0:
			unknown = append(unknown, string(r.Word))
		}
		for ; in != 0; in &= in - 1 {
			counts[bits.TrailingZeros32(uint32(in))]++
		}
	}
	best := NoLanguage
	for i, lang := range Languages {
		inEnglishOnly := inEnglish - common[i]
		isClear := func(own int) bool {
			return own > inEnglishOnly && (own > inEnglishOnly+1 || own+common[i] == words)
		}
		if !isClear(own[i] + len(unknown)) {
			continue // hasForm is slow, and cannot change the result
		}
		for _, word := range unknown {
			if lang.hasForm(word, known, 1<<i) {
				own[i]++
			}
		}
		if isClear(own[i]) && (best == NoLanguage || own[i]+common[i] > own[best]+common[best]) {
			best = i
		}
	}
	return best
}

// isOnlyEnglish reports whether English has each of the first words of a title.
func isOnlyEnglish(title string, most int, isEnglish func(word []byte) bool) bool {
	var r Reader
	r.Reset(title)
	for n := 0; n < most && r.Next(); n++ {
		if r.tellsLanguage() && !isEnglish(r.Word) && !English.Function[string(r.Word)] {
			return false
		}
	}
	return true
}

// tellsLanguage reports whether the word may tell the language of a title.
func (r *Reader) tellsLanguage() bool { return !r.HasDigit && len(r.Word) >= 2 }

// NoLanguage stands for English, and for a language that is not known.
const NoLanguage = -1

// hasForm reports whether the language has a word with the same stem or, for a compound, a word that is its last part.
func (l *Language) hasForm(word string, known map[string]LanguageSet, bit LanguageSet) bool {
	has := func(word string) bool { return known[string(l.Stem([]byte(word)))]&bit != 0 }
	if has(word) {
		return true
	}
	for from := range l.LastParts(word) {
		if len(word)-from > leastPart && has(word[from:]) { // the last four letters of many English words are a word
			return true
		}
	}
	return false
}

// KnownWords returns the languages of each word of the names, and of its stem. It skips languages without spaces, which
// byScript detects.
func KnownWords(names map[string]map[string]string) map[string]LanguageSet {
	all := make(map[string]LanguageSet)
	for i, lang := range Languages {
		if lang.Spaceless {
			continue
		}
		bit := LanguageSet(1) << i
		words := make(map[string]bool) // each once: most are in several names, and stemming is slow
		for _, name := range names[lang.Code] {
			for word := range All(name) {
				words[string(word)] = true
			}
		}
		for word := range words {
			all[word] |= bit
			all[string(lang.Stem([]byte(word)))] |= bit
		}
		for _, words := range []map[string]bool{lang.Function, lang.Modifiers} {
			for word := range words {
				all[word] |= bit
			}
		}
	}
	return all
}

// byScript returns the index of the language of a title's script; NoLanguage for the Latin script.
func byScript(title string) int {
	code := ""
	for _, c := range title {
		switch {
		case c < firstCyrillic || code == "ja":
		case unicode.In(c, unicode.Hiragana, unicode.Katakana):
			code = "ja"
		case unicode.Is(unicode.Han, c):
			code = "zh" // unless kana follow
		case unicode.Is(unicode.Cyrillic, c) && code == "":
			code = "ru"
		}
	}
	return slices.IndexFunc(Languages, func(l *Language) bool { return l.Code == code })
}

const firstCyrillic = 0x400
