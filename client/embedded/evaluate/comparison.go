package evaluate

import (
	"math"
	"strings"

	"github.com/bulkcat/bulkcat/client"
)

const (
	bins     = 10 // of confidence, each a tenth wide
	maxLevel = 20 // deeper than any taxonomy; deeper levels do not count

	// maxPairs is the most distinct confusions in memory. Frequent pairs are among the first.
	maxPairs = 1 << 16
	maxShown = 200 // bytes of a value in a pair
)

// Comparison compares answers with labels. Its memory does not grow with the number of records. It is
// not safe for concurrent use.
type Comparison struct {
	levels Levels
	known  func(level string) bool

	records, invalid, unlabelled, unknown int64
	labelled, answered, first, three      int64

	byLevel    [maxLevel]ratio
	byBin      [bins]bin
	confusions map[pair]int64
	uncounted  int64
}

type ratio struct{ right, of int64 }

type bin struct {
	ratio
	confidence float64 // summed
}

type pair struct{ label, answer string }

// newComparison returns a Comparison. levels splits values; known reports whether an allowed value, its levels
// joined by " > ", is in the taxonomy.
func newComparison(levels Levels, known func(value string) bool) *Comparison {
	return &Comparison{levels: levels, known: known, confusions: make(map[pair]int64)}
}

// Invalid counts a record that could not be asked.
func (t *Comparison) Invalid() { t.records, t.invalid = t.records+1, t.invalid+1 }

// Add counts a record with its label and the entries of its answer, best first.
func (t *Comparison) Add(label string, answers []client.Entry) {
	t.records++
	allowed := t.parse(label)
	if len(allowed) == 0 {
		t.unlabelled++
		return
	}
	t.labelled++
	if len(answers) > 0 {
		t.answered++
	}
	isFirst, isThree := t.isRight(allowed, answers, 1), t.isRight(allowed, answers, 3)
	count(&t.first, isFirst)
	count(&t.three, isThree)
	t.addLevels(allowed, answers)
	if len(answers) > 0 {
		t.addBin(answers[0].Confidence, isFirst)
	}
	if len(answers) > 0 && !isFirst {
		t.confuse(allowed[0], answers[0].Value)
	}
}

// parse splits a label into its allowed values, and each value into levels.
func (t *Comparison) parse(label string) [][]string {
	var allowed [][]string
	isKnown := false
	for value := range strings.SplitSeq(label, "|") {
		if levels := t.levels(value); len(levels) > 0 {
			allowed = append(allowed, levels)
			isKnown = isKnown || t.known(strings.Join(levels, " > "))
		}
	}
	if len(allowed) > 0 && !isKnown {
		t.unknown++
	}
	return allowed
}

// isRight reports whether one of the first n answers is right.
func (t *Comparison) isRight(allowed [][]string, answers []client.Entry, n int) bool {
	for _, a := range answers[:min(n, len(answers))] {
		levels := t.levels(a.Value)
		for _, want := range allowed {
			if common(levels, want) == len(want) {
				return true
			}
		}
	}
	return false
}

// addLevels counts a record at every level of its label. The record is right at a level if the
// first answer agrees with an allowed value down to that level.
func (t *Comparison) addLevels(allowed [][]string, answers []client.Entry) {
	deepest, agreed := 0, 0
	for _, want := range allowed {
		deepest = max(deepest, len(want))
		if len(answers) > 0 {
			agreed = max(agreed, common(t.levels(answers[0].Value), want))
		}
	}
	for i := range min(deepest, maxLevel) {
		t.byLevel[i].add(i < agreed)
	}
}

func (t *Comparison) addBin(confidence float64, isRight bool) {
	if math.IsNaN(confidence) {
		return
	}
	confidence = min(max(confidence, 0), 1)
	b := &t.byBin[min(int(confidence*bins), bins-1)]
	b.add(isRight)
	b.confidence += confidence
}

func (t *Comparison) confuse(label []string, answer string) {
	p := pair{shown(strings.Join(label, " > ")), shown(answer)}
	if _, ok := t.confusions[p]; !ok && len(t.confusions) == maxPairs {
		t.uncounted++
		return
	}
	t.confusions[p]++
}

// shown cuts values that are longer than any taxonomy's, and copies the value, which then does not keep the record in memory.
func shown(value string) string {
	return strings.ToValidUTF8(strings.Clone(value[:min(len(value), maxShown)]), "")
}

func (r *ratio) add(isRight bool) {
	r.of++
	count(&r.right, isRight)
}

func (r ratio) share() float64 {
	if r.of == 0 {
		return 0
	}
	return float64(r.right) / float64(r.of)
}

func count(n *int64, yes bool) {
	if yes {
		*n++
	}
}
