package classify

import (
	"math/bits"
	"slices"
	"unicode"
)

// languageSet has a bit for each element of languages.
type languageSet uint32

const maxLanguages = 32

// detect returns the index in languages of the language with most of a title's words; noLanguage if English has most, or no
// language has clearly more.
func (e *Engine) detect(title string) int {
	if i := byScript(title); i >= 0 {
		return i
	}
	known := e.localized.words()
	var own, common [maxLanguages]int // by language: the number of words that English does not have, and of words that it has, too
	var unknown []string
	words, inEnglish := 0, 0
	var r reader
	var buf [maxWord]byte
	r.reset(title)
	for n := 0; n < maxTitleWords && r.next(); n++ {
		if r.hasDigit || len(r.word) < 2 {
			continue
		}
		words++
		in, counts := known[string(r.word)], &own
		first, last := e.index.resolve(append(buf[:0], r.word...))
		switch {
		case first != noTerm || last != noTerm || english.function[string(r.word)]:
			inEnglish++
			counts = &common
		case in == 0:
			unknown = append(unknown, string(r.word))
		}
		for ; in != 0; in &= in - 1 {
			counts[bits.TrailingZeros32(uint32(in))]++
		}
	}
	best := noLanguage
	for i, lang := range languages {
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
		if isClear(own[i]) && (best == noLanguage || own[i]+common[i] > own[best]+common[best]) {
			best = i
		}
	}
	return best
}

const noLanguage = -1

// hasForm reports whether the language has a word with the same stem, or one that is the last part of the compound word.
func (l *language) hasForm(word string, known map[string]languageSet, bit languageSet) bool {
	has := func(word string) bool { return known[string(l.stem([]byte(word)))]&bit != 0 }
	if has(word) {
		return true
	}
	for from := range l.lastParts(word) {
		if len(word)-from > leastPart && has(word[from:]) { // the last four letters of many English words are a word
			return true
		}
	}
	return false
}

// knownWords returns the languages of each word of the names, and of its stem. It skips languages without spaces, which
// byScript detects.
func knownWords(names map[string]map[string]string) map[string]languageSet {
	all := make(map[string]languageSet)
	var r reader
	for i, lang := range languages {
		if lang.spaceless {
			continue
		}
		bit := languageSet(1) << i
		words := make(map[string]bool) // each once: most are in several names, and stemming is slow
		for _, name := range names[lang.code] {
			for r.reset(name); r.next(); {
				words[string(r.word)] = true
			}
		}
		for word := range words {
			all[word] |= bit
			all[string(lang.stem([]byte(word)))] |= bit
		}
		for _, words := range []map[string]bool{lang.function, lang.modifiers} {
			for word := range words {
				all[word] |= bit
			}
		}
	}
	return all
}

// byScript returns the index of the language of a title's script; noLanguage for the Latin script.
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
	return slices.IndexFunc(languages, func(l *language) bool { return l.code == code })
}

const firstCyrillic = 0x400
