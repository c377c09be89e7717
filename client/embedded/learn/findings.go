package learn

import (
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// Finding is an unknown label, a label that contradicts another, or a repeated input.
type Finding struct {
	Row
	Label   string
	Problem string
}

// Findings returns the findings so far, in the order of the inputs.
func (l *Learner) Findings() []Finding { return l.findings }

// addUnknown adds a finding for a label that is not in the taxonomy, with the category that has the same words.
func (l *Learner) addUnknown(row Row, value string) {
	f := Finding{row, strings.TrimSpace(value), "the label is not in the taxonomy"}
	if near := l.nearest(value); near != "" {
		f.Problem += fmt.Sprintf("; did you mean %q?", near)
	}
	l.findings = append(l.findings, f)
}

// nearest returns the path that has the same words as a value, such as "Shoes" for "shoe"; "" for none.
func (l *Learner) nearest(value string) string {
	if l.byTerms == nil {
		l.byTerms = make(map[string]string)
		for i := range l.taxonomy.Categories {
			path := l.taxonomy.Categories[i].Path
			if key := words.Key(path); key != "" && l.byTerms[key] == "" {
				l.byTerms[key] = path
			}
		}
	}
	return l.byTerms[words.Key(value)]
}

// addRepeated adds a finding if an earlier input has the same words.
func (l *Learner) addRepeated(row Row, text uint64, class int32) {
	first, ok := l.texts[text]
	if !ok {
		l.texts[text] = len(l.examples)
		return
	}
	e, label := l.examples[first], strings.Join(l.classes[class].Values, "|")
	f := Finding{row, label, "the input repeats " + e.reference()}
	if e.class != class {
		f.Problem = fmt.Sprintf("the label contradicts %s, which has the same words and the label %q", e.reference(), strings.Join(l.classes[e.class].Values, "|"))
	}
	l.findings = append(l.findings, f)
}

// leastSuspicion is the least confidence of an answer that makes a different label suspect.
const leastSuspicion = 0.5

// Suspect is a label that the cross-validation contradicts.
type Suspect struct {
	Row
	Label      string  // the allowed categories
	Answer     string  // the answer of the cross-validation
	Confidence float64 // of Answer: the probability that the label is wrong
}
