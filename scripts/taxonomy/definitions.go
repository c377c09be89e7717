package main

import (
	"regexp"
	"slices"
	"strings"
)

const (
	maxPhrases     = 16 // the later phrases of a definition are details of its earlier phrases
	maxPhraseWords = 4  // longer phrases are clauses, and never occur in another text
)

var (
	// exclusions match the parts of a definition about other industries.
	exclusions = regexp.MustCompile(`(?is)cross-references.*|excluded from this .*|\(except[^()]*(\([^()]*\)[^()]*)*\)|except [^,.;]*|establishments primarily engaged in--.*`)
	// boundaries match the separators of phrases in a definition.
	boundaries = regexp.MustCompile(`[^\pL\pN' -]+|\s+-+\s+|\n|\b(?:and/or|and|or|such as|including|for|to|in|of|on|by|from|with|as|that|which|using|used|at|through|into|who|are|is|may|these|this|other than)\b`)
	// boilerplate words are in many definitions and say nothing about the industry.
	boilerplate = words(`a all also an any applicable associated based basis both combination comprise comprises conducting contract
		directly distribution engaged establishment establishments example examples fee following generally goods group
		illustrative industries industry known least limited mainly manufacture manufacturing materials merchant more most not
		one operating or others own paper part particular performing primarily process processes producing production products provide
		provided provides providing purchased range related retailing same sector see selling separately service services several similar specific
		subsector such the their them they those two type types us various well where wholesale wholesalers
		activities activity combinations description items cell national`)
)

// definitionPhrases returns the short phrases of an industry's definitions that name activities or products, in their order,
// without repetitions. The definitions have equal shares of the phrases.
func definitionPhrases(definitions []string) []string {
	var phrases []string
	for i, definition := range definitions {
		most := maxPhrases * (i + 1) / len(definitions)
		for _, phrase := range shortPhrases(definition) {
			if len(phrases) >= most {
				break
			}
			if !slices.Contains(phrases, phrase) {
				phrases = append(phrases, phrase)
			}
		}
	}
	return phrases
}

// shortPhrases returns the phrases of one definition.
func shortPhrases(definition string) (phrases []string) {
	text := strings.ToLower(strings.NewReplacer("’", "'", "U.S.", "").Replace(definition))
	for _, part := range boundaries.Split(essence(text), -1) {
		phrase := trimBoilerplate(strings.Fields(part))
		if p := strings.Join(phrase, " "); len(p) >= 3 && len(phrase) <= maxPhraseWords {
			phrases = append(phrases, p)
		}
	}
	return phrases
}

// essence returns the first sentence of a definition and its list of examples. The other sentences mention other industries.
func essence(definition string) string {
	const opening, examples = " comprise", "illustrative examples:"
	_, rest, ok := strings.Cut(definition, opening)
	if !ok {
		return "" // "NULL", or a reference to the code that holds the definition
	}
	rest = exclusions.ReplaceAllString(strings.TrimPrefix(rest, "s "), ",")
	first, _, _ := strings.Cut(rest, ". ")
	_, list, _ := strings.Cut(rest, examples)
	return first + "\n" + list
}

// trimBoilerplate removes boilerplate and list numbers from both ends.
func trimBoilerplate(phrase []string) []string {
	empty := func(w string) bool {
		w = strings.Trim(w, "'-0123456789")
		return w == "" || boilerplate[w]
	}
	for len(phrase) > 0 && empty(phrase[0]) {
		phrase = phrase[1:]
	}
	for len(phrase) > 0 && empty(phrase[len(phrase)-1]) {
		phrase = phrase[:len(phrase)-1]
	}
	for i, w := range phrase {
		phrase[i] = strings.Trim(w, "'-")
	}
	return phrase
}

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
