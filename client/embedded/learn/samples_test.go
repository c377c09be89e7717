package learn

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

var (
	samples = flag.String("samples", "", "measure models of the labelled samples in `DIR`, which are no part of the project")
	sets    = flag.String("sets", "product_feeds,product_flipkart,web_pages,web_news,web_domains,naics_companies", "the `NAMES` of the sets: NAME.tsv has the columns text and label")
	draws   = flag.Int("draws", 10, "measure `N` random draws of labels")
)

// labelled is a text with its label.
type labelled struct {
	features Features
	sample   Sample
	label    string
}

// readSamples reads a set of samples. A title is a text; a page is "URL ||| text", a company "name ||| text".
func readSamples(t *testing.T, name string) (*taxonomy.Custom, client.Kind, []labelled) {
	text, err := os.ReadFile(filepath.Join(*samples, name+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	kind, published := client.Website, taxonomy.IAB()
	switch {
	case strings.HasPrefix(name, "product"):
		kind, published = client.Product, taxonomy.Products()
	case strings.HasPrefix(name, "naics"):
		published = taxonomy.NAICS()
	}
	engine := classify.New(published)
	var list []labelled
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	for i, line := range lines {
		text, label, _ := strings.Cut(line, "\t")
		list = append(list, labelled{sample: sampleOf(engine, kind, name, i, text), label: label})
		list[i].features = FeaturesOf(list[i].sample)
	}
	return &taxonomy.Custom{Taxonomy: *published}, kind, list
}

func sampleOf(engine *classify.Engine, kind client.Kind, name string, number int, text string) Sample {
	head, body, inTwo := strings.Cut(text, " ||| ")
	in := classify.Input{Host: fmt.Sprintf("%s-%d.example", strings.ReplaceAll(name, "_", "-"), number), Page: []classify.Field{{Text: text, Weight: 1}}}
	switch {
	case kind == client.Product:
		in = titleInput(text)
	case strings.HasSuffix(name, "domains"):
		in.Host, in.Page = text, nil
	case inTwo && strings.Contains(head, "://"):
		_, in.Host, _ = strings.Cut(head, "://")
		in.Host, _, _ = strings.Cut(in.Host, "/")
		in.Page = []classify.Field{{Text: body, Weight: 1}}
	case inTwo:
		in.Page = []classify.Field{{Text: head, Weight: 3}, {Text: body, Weight: 1}}
	}
	return SampleOf(in, engine)
}

// result is the share of right answers of the engine and of a model to the inputs that the model was not made of, and
// the mean confidence of the model; sure is the share of the inputs whose answer has a confidence from which on the bound of
// right answers is 0.95, and agreed the share of those of them whose answer is right.
type result struct{ engine, model, confidence, sure, agreed float64 }

func draw(t *testing.T, tree *taxonomy.Custom, kind client.Kind, list []labelled, labels, seed int) (result, *Model) {
	order := rand.New(rand.NewPCG(uint64(seed), 7)).Perm(len(list))
	l := NewLearner(kind, tree)
	for _, i := range order[:labels] {
		f := list[i].features
		f.features = append([]feature(nil), f.features...) // Train changes them
		l.Add(Row{Line: int64(i)}, f, list[i].label)
	}
	m, _, err := l.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var r result
	threshold, ok := m.sure(surePrecision, func(a Agreement) int64 { return a.Right }) // labels are parts of a tree, or sets
	one := 1 / float64(len(order)-labels)
	for _, i := range order[labels:] {
		var allowed []int32
		for value := range strings.SplitSeq(list[i].label, "|") {
			if c, ok := l.byLevels[l.key(value)]; ok {
				allowed = append(allowed, c)
			}
		}
		if m := list[i].sample.Engine.Matches; len(m) > 0 && isRight(&tree.Taxonomy, int32(m[0].Category), allowed) {
			r.engine += one
		}
		if m := m.Predict(list[i].sample, 1); len(m) > 0 {
			r.confidence += one * m[0].Confidence
			if ok && m[0].Confidence >= threshold {
				r.sure += one
				if isRight(&tree.Taxonomy, int32(m[0].Category), allowed) {
					r.agreed += one
				}
			}
			if isRight(&tree.Taxonomy, int32(m[0].Category), allowed) {
				r.model += one
			}
		}
	}
	return r, m
}

const surePrecision = 0.95

// departments are names that a shop has for those of the product taxonomy.
var departments = map[string]string{"Home & Garden": "Living", "Apparel & Accessories": "Fashion", "Electronics": "Gadgets"}

// nodeOf is the category of a label in a shop's tree: its department, and the last levels of the allowed categories.
func nodeOf(label string) string {
	department, _, _ := strings.Cut(label, " > ")
	department, _, _ = strings.Cut(department, "|")
	if name := departments[department]; name != "" {
		department = name
	}
	var last []string
	for value := range strings.SplitSeq(label, "|") {
		levels := strings.Split(value, " > ")
		last = append(last, levels[len(levels)-1])
	}
	return department + " > " + strings.Join(last, " or ")
}

// The shares of right answers in a shop's own tree: its 100 categories are the labels of the titles of a marketplace.
func TestSamplesInTree(t *testing.T) {
	if *samples == "" {
		t.Skip("needs -samples")
	}
	_, kind, list := readSamples(t, "product_flipkart")
	nodes := make(map[string]bool)
	for i := range list {
		list[i].label = nodeOf(list[i].label)
		nodes[list[i].label] = true
	}
	text := strings.Join(slices.Sorted(maps.Keys(nodes)), "\n")
	tree, err := taxonomy.ReadCustom(client.CustomPrefix+"tree", "tree.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	base := classify.New(taxonomy.Products())
	base.AddNames(taxonomy.Names)
	engine := classify.New(&tree.Taxonomy)
	engine.LinkTo(base)
	for i := range list {
		s := &list[i].sample
		s.Builtin = AnswersOf(base, titleInput(s.Fields[0].Text))
		s.Engine = AnswersOf(engine, titleInput(s.Fields[0].Text))
		list[i].features = FeaturesOf(*s)
	}
	fmt.Printf("| tree | labels | engine | model: mean | least | most |\n|---|--:|--:|--:|--:|--:|\n")
	for _, labels := range []int{200, 1000} {
		var mean result
		least, most := 1.0, 0.0
		for seed := range *draws {
			r, _ := draw(t, tree, kind, list, labels, seed)
			mean.engine += r.engine / float64(*draws)
			mean.model += r.model / float64(*draws)
			least, most = min(least, r.model), max(most, r.model)
		}
		fmt.Printf("| %d categories | %d | %.3f | %.3f | %.3f | %.3f |\n", len(nodes), labels, mean.engine, mean.model, least, most)
	}
}

// The shares of right answers of models of 50, 200 and two thirds of the labels to the other inputs.
func TestSamples(t *testing.T) {
	if *samples == "" {
		t.Skip("needs -samples")
	}
	fmt.Printf("| set | labels | engine | model: mean | least | most | worst beside the engine | confidence | sure | of these agreed | file |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, name := range strings.Split(*sets, ",") {
		tree, kind, list := readSamples(t, name)
		thirds := 2 * len(list) / 3
		for _, labels := range []int{50, min(200, thirds), thirds} {
			var mean result
			least, most, worst, size := 1.0, 0.0, 1.0, 0
			for seed := range *draws {
				r, m := draw(t, tree, kind, list, labels, seed)
				mean.engine += r.engine / float64(*draws)
				mean.model += r.model / float64(*draws)
				mean.confidence += r.confidence / float64(*draws)
				mean.sure += r.sure / float64(*draws)
				mean.agreed += r.agreed / float64(*draws)
				least, most, worst = min(least, r.model), max(most, r.model), min(worst, r.model-r.engine)
				var file bytes.Buffer
				if _, err := m.WriteTo(&file); err != nil {
					t.Fatal(err)
				}
				size = max(size, file.Len())
				if testing.Verbose() {
					t.Logf("%s %d %.2f %.2f", name, labels, m.Utility, m.First)
				}
			}
			fmt.Printf("| %s | %d | %.3f | %.3f | %.3f | %.3f | %+.3f | %.3f | %.3f | %.3f | %d |\n", name, labels, mean.engine, mean.model, least, most, worst, mean.confidence, mean.sure, mean.agreed/max(mean.sure, 1e-9), size)
		}
	}
}
