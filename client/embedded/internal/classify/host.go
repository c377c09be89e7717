package classify

import (
	_ "embed" // the common words
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/idna"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/internal/weburl"
)

// SplitHost returns the words of a host name in lower case: "www.bestcarparts.co.uk" gives best, car, parts. It prefers words
// of the taxonomy. Other letters between known words are one word, such as a brand. Internationalized names (RFC 5890) are
// decoded to their own script.
//
// domain is the meaning of the top-level domain, such as "university" for "acme.edu"; "" for most.
func (e *Engine) SplitHost(host string) (words []string, domain string) {
	host, _, _ = strings.Cut(host, ":") // a port
	labels := strings.FieldsFunc(strings.ToLower(host), func(c rune) bool { return c == '.' })
	labels, domain = e.cutSuffix(labels)
	for _, label := range labels {
		for _, run := range runs(decode(label)) {
			words = append(words, e.splitRun(run)...)
		}
	}
	return words, domain
}

// decode returns an internationalized label in its own script; "" for a malformed label.
func decode(label string) string {
	if !strings.HasPrefix(label, "xn--") {
		return label
	}
	decoded, err := idna.Punycode.ToUnicode(label)
	if err != nil {
		return ""
	}
	return decoded
}

// cutSuffix removes "www" and similar labels from the start, and the labels under which names are registered from the end. It
// returns the meaning of the top-level domain; "" for none.
func (e *Engine) cutSuffix(labels []string) ([]string, string) {
	if len(labels) > 2 && hostRoles[strings.TrimRight(labels[0], "0123456789")] {
		labels = labels[1:]
	}
	last := len(labels) - 1
	if last < 1 {
		return labels, ""
	}
	domain := e.domainWord(labels[last])
	labels = labels[:last]
	if last--; last > 0 && (registries[labels[last]] || platforms[labels[last]]) {
		if domain == "" {
			domain = domainWords[labels[last]] // "acme.edu.au"
		}
		labels = labels[:last]
	}
	return labels, domain
}

// domainWord returns the meaning of a top-level domain, "" for none.
func (e *Engine) domainWord(domain string) string {
	if w, ok := domainWords[domain]; ok {
		return w
	}
	if len(domain) < 4 || plainDomains[domain] || e.wordCost(domain) == 0 {
		return ""
	}
	return domain
}

// hostRoles are first labels that name the role of a server. Digits may follow.
var hostRoles = words.Set(`www m mobile shop store web wap amp en cdn static`)

// domainWords are the meanings of top-level domains, and of labels under country domains, that are not words of four letters or
// more.
var domainWords = map[string]string{
	"edu": "university", "ac": "university", "gov": "government", "mil": "military", "int": "government",
	"app": "app", "tv": "television", "fm": "radio", "bet": "betting", "pub": "pub", "bar": "bar", "spa": "spa",
	"car": "car", "law": "law", "ski": "skiing", "dog": "dog", "tax": "tax", "art": "art",
	"fit": "fitness", "aero": "aviation", "coop": "cooperative",
}

// plainDomains are top-level domains whose words say nothing about the site.
var plainDomains = words.Set(`info name online site website space live life world today click link club store shop tech mobi arpa
	group zone center page pages cloud global company network digital asia work plus cool best host team blog test example
	local solutions services agency guru media studio systems`)

// registries are second-level labels of country domains ("co.uk", "com.au").
var registries = words.Set(`co com org net gov edu ac or ne go nom mil`)

// platforms are labels of hosts with sites on all subjects.
var platforms = words.Set(`blogspot wordpress tumblr weebly wixsite squarespace typepad livejournal github myshopify webnode jimdo forumactif
	altervista herokuapp netlify`)

//go:embed words.txt
var wordsText string

// commonWords are words of host names that are not in the taxonomy, stemmed.
var commonWords = sync.OnceValue(func() map[string]bool {
	common := make(map[string]bool)
	for w := range strings.FieldsSeq(wordsText) {
		common[string(words.Stem([]byte(w)))] = true
	}
	return common
})

// runs splits a label into runs of letters and runs of digits.
func runs(label string) (list []string) {
	start := 0
	for i := range len(label) + 1 {
		if i < len(label) && runKind(label[i]) == runKind(label[start]) {
			continue
		}
		if i > 0 && runKind(label[start]) != 0 {
			list = append(list, label[start:i])
		}
		start = i
	}
	return list
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

// splitRun splits a run of letters into the words of least cost. Known words cost little, long known words less per letter, and
// other letters much. So a name that contains short words by chance is not split.
func (e *Engine) splitRun(run string) []string {
	if len(run) > weburl.MaxLabel || runKind(run[0]) == 'd' || !isASCII(run) {
		return []string{run}
	}
	var least [weburl.MaxLabel + 1]float64
	var from [weburl.MaxLabel + 1]int
	for end := 1; end <= len(run); end++ {
		least[end] = unknownCost(end)
		for start := range end {
			if least[start]+leastCost(end-start) >= least[end] {
				continue // saves the lookup, which takes most of the time
			}
			cost := e.wordCost(run[start:end])
			if cost == 0 {
				cost = unknownCost(end - start)
			}
			if cost += least[start]; cost < least[end] {
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

// isASCII reports whether each byte of a run is a character.
func isASCII(run string) bool {
	return !strings.ContainsFunc(run, func(c rune) bool { return c > 0x7F })
}

// shortestTerm is the length of the shortest words of the taxonomy that are found within a run. Shorter words occur everywhere.
// words.txt has the common short words.
const shortestTerm = 3

// wordCost is the cost of a known word, 0 for other words.
func (e *Engine) wordCost(word string) float64 {
	var buf [weburl.MaxLabel]byte
	w := words.Stem(append(buf[:0], word...))
	if len(w) >= shortestTerm {
		if _, ok := e.index.vocabulary[string(w)]; ok {
			return knownCost(len(word))
		}
	}
	if commonWords()[string(w)] {
		return knownCost(len(word)) + commonCost
	}
	return 0
}

const commonCost = 0.1 // added for a word that is not in the taxonomy: of equal splits, the split with the taxonomy's words is preferred

// knownCost is the cost of a known word of n letters.
func knownCost(n int) float64 { return 1 + 3/float64(n) }

// leastCost is the least cost of n letters.
func leastCost(n int) float64 { return min(knownCost(n), unknownCost(n)) }

// unknownCost is the cost of n letters that are no known word.
func unknownCost(n int) float64 { return 2 + 0.9*float64(n) }
