package learn

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/evaluate"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// LeastLabels is the least number of examples with different words for a model. With fewer, a model can be worse than the
// engine alone.
const LeastLabels = 50

const (
	fewExamples = 5_000 // up to this number, cross-validation has manyFolds, and rare features are kept
	manyFolds   = 10
	fewFolds    = 2
	leastCount  = 2 // least number of inputs with a feature, if there are more than fewExamples
)

// TooFewError says that there are fewer than LeastLabels examples with different words.
type TooFewError struct{ Labels int }

func (e *TooFewError) Error() string {
	return fmt.Sprintf("%d different labelled inputs are too few to learn from: with fewer than %d a model can be worse than the built-in engine; label more inputs, or correct labels that are not in the taxonomy", e.Labels, LeastLabels)
}

// TooLargeError says that the taxonomy leaves no room for a model in MaxFile bytes.
type TooLargeError struct{ Categories int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("a model has at most %d bytes, which are too few for a taxonomy of %d categories with its aliases: leave out categories that are not used", MaxFile, e.Categories)
}

// Learner collects examples, and trains a model on them. It is not safe for concurrent use.
type Learner struct {
	kind     client.Kind
	taxonomy *taxonomy.Custom
	levels   evaluate.Levels
	byLevels map[string]int32 // by the levels of a category, joined
	classes  []Class
	byClass  map[string]int32 // by the categories of a class
	examples []example
	pages    int
	texts    map[uint64]int // by the hash of the words: the first example with these words
	findings []Finding
	byTerms  map[string]string // paths by their terms
}

type example struct {
	counted
	Row
	class   int32
	leftOut int // number of words that leaveOut has removed
	matches []classify.Match
}

// Row is the position of an input.
type Row struct {
	File  string // a file or a store
	Line  int64  // 0 in a store
	Input string
}

func (r Row) String() string {
	if r.Line == 0 {
		return r.File
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// reference returns the name of the row for a finding of another row.
func (r Row) reference() string {
	if r.Line == 0 {
		return fmt.Sprintf("%q", r.Input)
	}
	return r.String()
}

// Features are the features of a sample. They take less memory than its text.
type Features struct {
	counted
	matches []classify.Match
	isPage  bool // the sample is a website whose page was read
}

// FeaturesOf returns the features of a sample.
func FeaturesOf(s Sample) Features {
	return Features{count(s), s.Engine.Matches, s.Host != "" && len(s.Fields) > 0}
}

// NewLearner returns a Learner for inputs of a kind and labels in a taxonomy. t.File is "" for a published taxonomy.
func NewLearner(kind client.Kind, t *taxonomy.Custom) *Learner {
	l := &Learner{
		kind: kind, taxonomy: t, levels: evaluate.LevelsOf(&t.Taxonomy), byLevels: make(map[string]int32),
		byClass: make(map[string]int32), texts: make(map[uint64]int),
	}
	for i := range t.Categories {
		l.byLevels[l.key(t.Categories[i].Path)] = int32(i)
	}
	return l
}

func (l *Learner) key(value string) string {
	return strings.Join(l.levels(value), taxonomy.PathSeparator)
}

// Add adds an input with its label. It ignores an input without a label or without a label in the taxonomy. Unknown labels are
// findings.
func (l *Learner) Add(row Row, f Features, label string) {
	if strings.TrimSpace(label) == "" {
		return
	}
	var allowed []int32
	for value := range strings.SplitSeq(label, "|") {
		if key := l.key(value); key == "" {
			continue
		} else if c, ok := l.byLevels[key]; ok {
			allowed = append(allowed, c)
		} else {
			l.addUnknown(row, value)
		}
	}
	if len(allowed) == 0 {
		return
	}
	slices.Sort(allowed)
	class := l.class(slices.Compact(allowed))
	if _, ok := l.texts[f.text]; ok {
		f.features = slices.Clone(f.features) // Train changes the features, and equal inputs share them
	}
	l.addRepeated(row, f.text, class)
	l.classes[class].Labels++
	if f.isPage {
		l.pages++
	}
	l.examples = append(l.examples, example{counted: f.counted, Row: row, class: class, matches: f.matches})
}

// class returns the index of the class of allowed categories. It adds a new class.
func (l *Learner) class(allowed []int32) int32 {
	key := fmt.Sprint(allowed)
	class, ok := l.byClass[key]
	if !ok {
		class = int32(len(l.classes))
		l.byClass[key] = class
		c := Class{categories: allowed}
		for _, k := range allowed {
			c.Values = append(c.Values, l.taxonomy.Categories[k].Path)
		}
		l.classes = append(l.classes, c)
	}
	return class
}

// Train trains a model on the examples. Call it once, after the last Add. The error is a *[TooFewError], a *[TooLargeError] or
// the cause of ctx.
func (l *Learner) Train(ctx context.Context) (*Model, []Suspect, error) {
	if len(l.texts) < LeastLabels {
		return nil, nil, &TooFewError{len(l.texts)}
	}
	rare := l.weigh()
	if len(l.examples) > fewExamples {
		l.leaveOut(rare)
	}
	m := &Model{taxonomy: &l.taxonomy.Taxonomy, About: About{
		Kind: l.kind, Classification: l.taxonomy.Name, Edition: l.taxonomy.Fingerprint(),
		Labels: len(l.examples), Pages: l.pages, Classes: l.classes,
	}}
	if l.taxonomy.File != "" {
		m.Tree = treeText(&l.taxonomy.Taxonomy)
	}
	suspects := l.validate(ctx, m, rare)
	m.linear = trained(ctx, l.vectors(func(int) bool { return true }), len(l.classes), rare)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	body := m.body()
	for least := 2; len(body)+headerLength > MaxFile; least++ {
		if least > mostWeight {
			return nil, nil, &TooLargeError{len(l.taxonomy.Categories)}
		}
		m.linear.sort(rare, least)
		body = m.body()
	}
	m.digest = digest(body)
	return m, suspects, nil
}

// weigh counts the inputs with each feature, and converts the counts in all examples to values.
func (l *Learner) weigh() *rarities {
	rare := &rarities{inputs: len(l.examples), counts: make(map[uint32]int32)}
	for i := range l.examples {
		for _, f := range l.examples[i].features {
			rare.counts[f.id]++
		}
	}
	for i := range l.examples {
		l.examples[i].weigh(func(id uint32) float32 { return idfOf(rare.of(id)) })
	}
	return rare
}

// leaveOut removes the rare features of all examples, for speed and memory.
func (l *Learner) leaveOut(rare *rarities) {
	for i := range l.examples {
		e := &l.examples[i]
		kept := e.features[:0]
		for _, f := range e.features {
			if rare.counts[f.id] >= leastCount {
				kept = append(kept, f)
			} else if f.id>>hashBits == kindWord {
				e.leftOut++
			}
		}
		e.features = slices.Clone(kept)
	}
	maps.DeleteFunc(rare.counts, func(_ uint32, n int32) bool { return n < leastCount })
}

// vectors returns the chosen examples.
func (l *Learner) vectors(chosen func(i int) bool) []vector {
	var list []vector
	for i := range l.examples {
		if chosen(i) {
			list = append(list, vector{l.examples[i].features, l.examples[i].class})
		}
	}
	return list
}

// held is the result of the cross-validation for an example.
type held struct {
	list  []candidate
	known float64 // the share of the example's words that other examples have
}

// validate runs the cross-validation, fits the utility and the confidences of m to its answers, and sets the report.
func (l *Learner) validate(ctx context.Context, m *Model, rare *rarities) []Suspect {
	held := l.crossValidate(ctx, rare)
	if ctx.Err() != nil {
		return nil
	}
	t := m.taxonomy
	var choices []choice
	for i, h := range held {
		c := choice{list: h.list}
		for _, candidate := range h.list {
			c.right = append(c.right, isRight(t, candidate.category, l.allowed(i)))
		}
		if slices.Contains(c.right, true) {
			choices = append(choices, c)
		}
	}
	m.Utility = fitUtility(choices)
	var first, later []judged
	for i := range held {
		m.Utility.rank(held[i].list)
		if len(first) > mostFitted {
			continue
		}
		for rank, v := range evidence(t, held[i].list, held[i].known, entriesFitted) {
			j := judged{v, isRight(t, held[i].list[rank].category, l.allowed(i))}
			if rank == 0 {
				first = append(first, j)
			} else {
				later = append(later, j)
			}
		}
	}
	m.First, m.Later = fitConfidences(first), fitConfidences(later)
	comparison := evaluate.ForTaxonomy(t)
	var suspects []Suspect
	var compared []answered
	for i, h := range held {
		matches := m.answer(h.list, h.known, entriesFitted)
		answers := make([]client.Entry, len(matches))
		for k, match := range matches {
			answers[k] = client.Entry{Value: t.Categories[match.Category].Path, Confidence: match.Confidence}
		}
		label := strings.Join(l.classes[l.examples[i].class].Values, "|")
		comparison.Add(label, answers)
		isFirst := l.texts[l.examples[i].text] == i
		if isFirst {
			m.Compared++
		}
		if isFirst && len(matches) > 0 {
			category := int32(matches[0].Category)
			compared = append(compared, answered{matches[0].Confidence, slices.Contains(l.allowed(i), category), isRight(t, category, l.allowed(i))})
		}
		if own := l.examples[i].matches; len(own) > 0 && isRight(t, int32(own[0].Category), l.allowed(i)) {
			m.Engine += 1 / float64(len(held))
		}
		if len(answers) > 0 && answers[0].Confidence >= leastSuspicion && !isRight(t, int32(matches[0].Category), l.allowed(i)) {
			suspects = append(suspects, Suspect{l.examples[i].Row, label, answers[0].Value, answers[0].Confidence})
		}
	}
	m.Report = comparison.Report()
	m.Agreements = agreements(compared)
	slices.SortFunc(suspects, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return suspects
}

func (l *Learner) allowed(example int) []int32 {
	return l.classes[l.examples[example].class].categories
}

// crossValidate finds the candidates of each example with a model that was trained on other examples.
func (l *Learner) crossValidate(ctx context.Context, rare *rarities) []held {
	folds := manyFolds
	if len(l.examples) > fewExamples {
		folds = fewFolds
	}
	fold := make([]int, len(l.examples))
	place := 0
	for _, i := range rand.New(rand.NewPCG(3, 4)).Perm(len(fold)) {
		if l.texts[l.examples[i].text] == i {
			fold[i] = place % folds
			place++
		}
	}
	for i, e := range l.examples {
		fold[i] = fold[l.texts[e.text]] // equal inputs are in the same fold: a model that has seen the input proves nothing
	}
	all := make([]held, len(l.examples))
	shares := make([]float64, len(l.classes))
	for k := range folds {
		part := l.vectors(func(i int) bool { return fold[i] != k })
		classes := l.classesOf(part)
		linear := trained(ctx, part, len(classes), rare)
		if ctx.Err() != nil {
			return nil
		}
		tree := newTree(&l.taxonomy.Taxonomy, classes)
		for i, e := range l.examples {
			if fold[i] == k {
				h := &all[i]
				h.known = linear.shares(e.features, e.leftOut, shares[:len(classes)])
				h.list = slices.Clone(tree.candidates(classes, shares[:len(classes)], e.matches)) // 100,000 lists are in memory
			}
		}
	}
	return all
}

// classesOf renumbers the classes of the vectors, in place, and returns them.
func (l *Learner) classesOf(part []vector) []Class {
	number := make(map[int32]int32)
	var classes []Class
	for i, v := range part {
		n, ok := number[v.class]
		if !ok {
			n = int32(len(classes))
			number[v.class] = n
			classes = append(classes, l.classes[v.class])
		}
		part[i].class = n
	}
	return classes
}
