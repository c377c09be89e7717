package learn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
)

// Finding is a label that is unknown or that contradicts another, or an input that repeats another.
type Finding struct {
	Row
	Label   string
	Problem string
}

// Findings are the findings of the examples so far, in their order.
func (l *Learner) Findings() []Finding { return l.findings }

// unknown notes a label that is not in the taxonomy, with the category that has the same words.
func (l *Learner) unknown(row Row, value string) {
	f := Finding{row, strings.TrimSpace(value), "the label is not in the taxonomy"}
	if near := l.nearest(value); near != "" {
		f.Problem += fmt.Sprintf("; did you mean %q?", near)
	}
	l.findings = append(l.findings, f)
}

// nearest is the category whose path has the same words as a value: "shoe" and "Shoes" are the same.
func (l *Learner) nearest(value string) string {
	if l.byTerms == nil {
		l.byTerms = make(map[string]string)
		for i := range l.taxonomy.Categories {
			path := l.taxonomy.Categories[i].Path
			if key := terms(path); key != "" && l.byTerms[key] == "" {
				l.byTerms[key] = path
			}
		}
	}
	return l.byTerms[terms(value)]
}

func terms(text string) string { return strings.Join(classify.Terms(text), " ") }

// compare notes an input with the same words as an earlier one.
func (l *Learner) compare(row Row, text uint64, class int32) {
	first, ok := l.texts[text]
	if !ok {
		l.texts[text] = len(l.examples)
		return
	}
	e, label := l.examples[first], strings.Join(l.classes[class].Values, "|")
	f := Finding{row, label, "the input repeats " + e.other()}
	if e.class != class {
		f.Problem = fmt.Sprintf("the label contradicts %s, which has the same words and the label %q", e.other(), strings.Join(l.classes[e.class].Values, "|"))
	}
	l.findings = append(l.findings, f)
}

// leastSuspicion is the confidence of an answer that makes another label suspect.
const leastSuspicion = 0.5

// Suspect is a label that the models of other examples contradict.
type Suspect struct {
	Row
	Label      string  // the allowed categories
	Answer     string  // the answer of the model of other examples
	Confidence float64 // that the answer is right, and so the label wrong
}

// sortSuspects puts the labels first that are most probably wrong.
func sortSuspects(list []Suspect) {
	slices.SortFunc(list, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}
