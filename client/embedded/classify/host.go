package classify

import (
	_ "embed" // the common words
	"slices"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// maxLabel bounds the letters of a host name's label that are split (RFC 1035
// §2.3.4).
const maxLabel = 63

// SplitHost returns the words a host name is written from, in lower case:
// "www.bestcarparts.co.uk" gives best, car, parts. Letters between known words
// are a word of their own. The top-level domain is left out unless it says
// something, as in "acme.travel".
func SplitHost(host string) []string {
	host, _, _ = strings.Cut(host, ":") // a port
	labels := strings.FieldsFunc(strings.ToLower(host), func(c rune) bool { return c == '.' })
	labels = dropSuffix(labels)
	var words []string
	for _, label := range labels {
		for _, run := range runs(label) {
			words = append(words, splitRun(run)...)
		}
	}
	return words
}

// dropSuffix removes "www" and the labels under which names are registered.
func dropSuffix(labels []string) []string {
	if len(labels) > 1 && strings.HasPrefix(labels[0], "www") {
		labels = labels[1:]
	}
	last := len(labels) - 1
	if last < 1 {
		return labels
	}
	if domain := labels[last]; len(domain) < 4 || !dictionary()[domain] || plainDomains[domain] {
		labels = labels[:last]
	}
	last = len(labels) - 1
	if last > 0 && (registries[labels[last]] || platforms[labels[last]]) {
		labels = labels[:last]
	}
	return labels
}

// plainDomains are top-level domains that are words and yet say nothing.
var plainDomains = wordSet(`info name online site website space live life world today click link club store tech mobi arpa`)

// registries are second-level labels of country domains ("co.uk", "com.au").
var registries = wordSet(`co com org net gov edu ac or ne go nom`)

// platforms host sites of all kinds under their own name.
var platforms = wordSet(`blogspot wordpress tumblr weebly wixsite squarespace typepad livejournal github myshopify webnode jimdo forumactif
	altervista herokuapp netlify`)

//go:embed words.txt
var commonWords string

// dictionary holds the words a host name may be made of, stemmed: common ones
// and all that the taxonomies know.
var dictionary = sync.OnceValue(func() map[string]bool {
	known := make(map[string]bool)
	var r reader
	add := func(text string) {
		for r.reset(text); r.next(); {
			// Short words would be found everywhere; the common ones are listed.
			if len(r.word) > 2 && !r.hasDigit {
				known[string(stem(r.word))] = true
			}
		}
	}
	for _, t := range []*taxonomy.Taxonomy{taxonomy.IAB(), taxonomy.Products(), taxonomy.NAICS()} {
		for i := range t.Categories {
			add(t.Categories[i].Name)
			for _, a := range t.Categories[i].Aliases {
				add(a)
			}
		}
	}
	for w := range strings.FieldsSeq(commonWords) {
		known[string(stem([]byte(w)))] = true
	}
	return known
})

// runs parts a label into runs of letters and runs of digits.
func runs(label string) []string {
	var out []string
	start, kind := 0, byte(0)
	for i := 0; i <= len(label); i++ {
		k := byte(0)
		if i < len(label) {
			k = runKind(label[i])
		}
		if k != kind {
			if kind != 0 {
				out = append(out, label[start:i])
			}
			start, kind = i, k
		}
	}
	return out
}

// runKind is 0 for punctuation, 'd' for a digit and 'l' for anything else.
func runKind(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return 'd'
	case c == '-' || c == '_' || c <= ' ' || c == '/' || c == ':':
		return 0
	}
	return 'l'
}

// splitRun parts a run of letters where the words in it cost least. Known words
// cost little, the less the longer they are, and letters outside them much, so
// that a name that merely contains short words stays whole.
func splitRun(run string) []string {
	if len(run) > maxLabel || runKind(run[0]) == 'd' {
		return []string{run}
	}
	known := dictionary()
	var least [maxLabel + 1]float64
	var from [maxLabel + 1]int
	var buf [maxLabel]byte
	for end := 1; end <= len(run); end++ {
		least[end] = unknownCost(end)
		for start := 0; start < end; start++ {
			cost := least[start] + unknownCost(end-start)
			if w := append(buf[:0], run[start:end]...); known[string(stem(w))] {
				cost = least[start] + knownCost(end-start)
			}
			if cost < least[end] {
				least[end], from[end] = cost, start
			}
		}
	}
	var words []string
	for end := len(run); end > 0; end = from[end] {
		words = append(words, run[from[end]:end])
	}
	slices.Reverse(words)
	return words
}

// unknownCost is that of n letters that are no known word.
func unknownCost(n int) float64 { return 2 + 0.5*float64(n) }

// knownCost is that of a known word of n letters.
func knownCost(n int) float64 { return 1 + 3/float64(n) }
