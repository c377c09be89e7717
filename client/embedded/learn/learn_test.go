package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

const shopTree = `path,aliases,id
Seating,,S
Seating > Sofas,couch|settee,S1
Seating > Chairs,armchair,S2
Lamps,,L
Lamps > Floor Lamps,,L1
Rugs,carpet,R
`

// shop is a small taxonomy with its engine.
type shop struct {
	tree   *taxonomy.Custom
	engine *classify.Engine
}

func newShop(t testing.TB) shop {
	t.Helper()
	tree, err := taxonomy.ReadCustom(client.CustomPrefix+"shop", "shop.csv", strings.NewReader(shopTree))
	if err != nil {
		t.Fatal(err)
	}
	return shop{tree, classify.New(&tree.Taxonomy)}
}

func (s shop) sample(title string) Sample {
	return SampleOf(titleInput(title), s.engine)
}

func titleInput(title string) classify.Input {
	return classify.Input{Title: []classify.Field{{Text: title}}}
}

// models are the names of the shop's products, which the taxonomy does not have.
var models = map[string][]string{
	"Seating > Sofas":     {"Ektorp", "Kivik", "Klippan"},
	"Seating > Chairs":    {"Poang", "Strandmon"},
	"Lamps > Floor Lamps": {"Hektar", "Uppbo"},
	"Rugs":                {"Stoense", "Lohals"},
}

var colours = []string{"red", "blue", "green", "grey", "beige", "white", "black", "natural"}

// titles are product titles with their labels, in the order of the categories.
func (s shop) titles() (titles, labels []string) {
	for _, c := range s.tree.Categories {
		for _, model := range models[c.Path] {
			for i, colour := range colours {
				titles = append(titles, fmt.Sprintf("%s %s %d", model, colour, i))
				labels = append(labels, c.Path)
			}
		}
	}
	return titles, labels
}

func (s shop) learner(titles, labels []string) *Learner {
	l := NewLearner(client.Product, s.tree)
	for i, title := range titles {
		l.Add(Row{File: "shop.csv", Line: int64(i + 2), Input: title}, FeaturesOf(s.sample(title)), labels[i])
	}
	return l
}

func (s shop) model(t testing.TB) *Model {
	t.Helper()
	m, _, err := s.learner(s.titles()).Train(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fileOf(t testing.TB, m *Model) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// The taxonomy in a model's file is the taxonomy that the model was made for.
func TestTreeText(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"ids and aliases", shopTree},
		{"paths alone", "path\nSeating > Sofas\nLamps\n"},
		{"links of some", "path,links\nSofas,Furniture > Sofas=0.5|Furniture\nLamps,\nRugs,none\n"},
		{"links and aliases", "path,aliases,links\nSofas,\"couch, \"\"soft\"\"|settee\",Furniture > Sofas\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read := func(text string) *taxonomy.Custom {
				c, err := taxonomy.ReadCustom(client.CustomPrefix+"shop", "shop.csv", strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			tree := read(tt.text)
			if text := treeText(&tree.Taxonomy); read(text).Fingerprint() != tree.Fingerprint() {
				t.Errorf("another taxonomy: %s", text)
			}
		})
	}
}

// A model knows words that the taxonomy does not have, and keeps what the engine knows.
func TestPredict(t *testing.T) {
	s := newShop(t)
	m := s.model(t)
	for _, tt := range []struct{ title, want string }{
		{"Ektorp, brown", "Seating > Sofas"},
		{"Hektar", "Lamps > Floor Lamps"},
		{"the strandmon in yellow", "Seating > Chairs"},
		{"velvet settee", "Seating > Sofas"},
		{"armchair", "Seating > Chairs"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			matches := m.Predict(s.sample(tt.title), 3)
			if len(matches) == 0 || s.tree.Categories[matches[0].Category].Path != tt.want {
				t.Fatalf("got %v, want %s first", matches, tt.want)
			}
			for i, match := range matches {
				if !(match.Confidence >= classify.LeastConfidence && match.Confidence <= 1) || i > 0 && match.Confidence > matches[i-1].Confidence {
					t.Errorf("confidences %v", matches)
				}
			}
		})
	}
	if m.Report.Top1 < 0.95 || m.Engine > 0.1 || m.Report.CalibrationError > 0.1 {
		t.Errorf("cross-validation: %.2f right, the engine %.2f; calibration error %.2f", m.Report.Top1, m.Engine, m.Report.CalibrationError)
	}
}

// The same examples give the same file, and the file gives the same answers.
func TestFile(t *testing.T) {
	s := newShop(t)
	m := s.model(t)
	file := fileOf(t, m)
	if !bytes.Equal(file, fileOf(t, s.model(t))) {
		t.Error("the same examples give different files")
	}
	read, err := Read("shop.model", file)
	if err != nil {
		t.Fatal(err)
	}
	if read.Fingerprint() != m.Fingerprint() || !reflect.DeepEqual(read.Report, m.Report) || !bytes.Equal(fileOf(t, read), file) {
		t.Errorf("the model is another one when it is read")
	}
	if custom := read.Custom("shop.model"); custom.Fingerprint() != s.tree.Fingerprint() {
		t.Error("the taxonomy of the model is another one")
	}
	titles, _ := s.titles()
	for _, title := range append(titles, "velvet settee", "", "xyz") {
		if got, want := read.Predict(s.sample(title), 3), m.Predict(s.sample(title), 3); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v when read, %v before", title, got, want)
		}
	}
	titles, labels := s.titles()
	labels[0] = "Rugs"
	other, _, err := s.learner(titles, labels).Train(context.Background())
	if err != nil || other.Fingerprint() == m.Fingerprint() {
		t.Errorf("other labels give the same fingerprint, %v", err)
	}
}

// Every damaged file is refused, at whichever byte.
func TestDamagedFiles(t *testing.T) {
	file := fileOf(t, newShop(t).model(t))
	refused := func(t *testing.T, text []byte, problem string) {
		t.Helper()
		_, err := Read("shop.model", text)
		var bad *FileError
		if !errors.As(err, &bad) || bad.File != "shop.model" || !strings.Contains(bad.Problem, problem) {
			t.Fatalf("got %v, want %q", err, problem)
		}
	}
	for _, tt := range []struct{ name, text, problem string }{
		{"an empty file", "", "no model"},
		{"another file", "id,title\n1,Sofa\n", "no model"},
		{"the version before", "bulkcat model 2\n" + string(file[len(firstLine):]), "another version"},
		{"another version", "bulkcat model 9\n" + string(file[len(firstLine):]), "another version"},
		{"a first line alone", firstLine, "cut off"},
		{"more bytes", string(file) + "x", "damaged"},
		{"too many bytes", string(file) + strings.Repeat("x", MaxFile), "at most"},
	} {
		t.Run(tt.name, func(t *testing.T) { refused(t, []byte(tt.text), tt.problem) })
	}
	for i := range file {
		damaged := bytes.Clone(file)
		damaged[i] ^= 1
		refused(t, damaged, "")
		refused(t, file[:i], "")
	}
	m := newShop(t).model(t)
	m.Edition = "0123456789abcdef"
	m.digest = digest(m.body())
	refused(t, fileOf(t, m), "another edition")
	for name, sums := range map[string][]Agreement{
		"more equal than rows":  {{0.9, 10, 11, 11}},
		"more right than rows":  {{0.9, 10, 9, 11}},
		"more equal than right": {{0.9, 10, 9, 8}},
		"right rows fall":       {{0.9, 10, 5, 9}, {0.8, 20, 6, 8}},
		"no rows":               {{0.9, 0, 0, 0}},
		"confidences rise":      {{0.8, 10, 9, 9}, {0.9, 20, 18, 18}},
		"rows fall":             {{0.9, 10, 5, 5}, {0.8, 5, 5, 5}},
		"equal rows fall":       {{0.9, 10, 9, 9}, {0.8, 20, 8, 9}},
		"no confidence":         {{0, 10, 9, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newShop(t).model(t)
			m.Agreements = sums
			m.digest = digest(m.body())
			refused(t, fileOf(t, m), "malformed")
		})
	}
}

func TestTooFewLabels(t *testing.T) {
	s := newShop(t)
	titles, labels := s.titles()
	for i := LeastLabels - 1; i < len(labels); i++ {
		labels[i] = ""
	}
	_, _, err := s.learner(titles, labels).Train(context.Background())
	var few *TooFewError
	if !errors.As(err, &few) || few.Labels != LeastLabels-1 || !strings.Contains(err.Error(), "49 different labelled inputs are too few") {
		t.Errorf("got %v", err)
	}
}

// However often inputs repeat, they are no more different ones.
func TestRepeatedLabels(t *testing.T) {
	s := newShop(t)
	titles, labels := s.titles()
	titles, labels = titles[:LeastLabels-1], labels[:LeastLabels-1]
	for range 3 {
		titles, labels = append(titles, titles...), append(labels, labels...)
	}
	_, _, err := s.learner(titles, labels).Train(context.Background())
	var few *TooFewError
	if !errors.As(err, &few) || few.Labels != LeastLabels-1 {
		t.Errorf("got %v", err)
	}
	more, moreLabels := s.titles()
	m, _, err := s.learner(append(titles, more...), append(labels, moreLabels...)).Train(context.Background())
	if err != nil || m.Compared != int64(len(more)) {
		t.Errorf("got %v, %+v", err, m)
	}
}

// The training stops when its context ends, with the cause.
func TestInterruptedTraining(t *testing.T) {
	s := newShop(t)
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	if m, _, err := s.learner(s.titles()).Train(ctx); !errors.Is(err, stopped) || m != nil {
		t.Errorf("got %v, %v", m, err)
	}
}

// Labels that cannot be right, and inputs that tell nothing new, are found with their lines.
func TestFindings(t *testing.T) {
	s := newShop(t)
	for _, tt := range []struct {
		name, title, label, want string
		examples                 int
	}{
		{"the same label", "Kivik sofa", "Seating > Sofas", "", 2},
		{"several labels", "Kivik", "Seating > Sofas|Seating > Chairs", "", 2},
		{"a label without spaces", "Kivik", "Seating>Sofas", "", 2},
		{"no label", "Kivik", " ", "", 1},
		{"an unknown label", "Kivik", "Tables", "the label is not in the taxonomy", 1},
		{"an unknown label beside another", "Kivik", "Tables|Rugs", "the label is not in the taxonomy", 2},
		{"a label in the singular", "Kivik", "seating > sofa", `the label is not in the taxonomy; did you mean "Seating > Sofas"?`, 1},
		{"a repeated input", "EKTORP", "Seating > Sofas", "the input repeats shop.csv:2", 2},
		{"a contradiction", "Ektorp!", "Rugs", `the label contradicts shop.csv:2, which has the same words and the label "Seating > Sofas"`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := s.learner([]string{"Ektorp", tt.title}, []string{"Seating > Sofas", tt.label})
			var want []Finding
			if tt.want != "" {
				label := strings.TrimSpace(strings.Split(tt.label, "|")[0])
				want = []Finding{{Row{"shop.csv", 3, tt.title}, label, tt.want}}
			}
			if got := l.Findings(); !reflect.DeepEqual(got, want) || len(l.examples) != tt.examples {
				t.Errorf("got %+v and %d examples, want %+v and %d", got, len(l.examples), want, tt.examples)
			}
		})
	}
}

// The label that the other examples contradict most comes first.
func TestSuspects(t *testing.T) {
	s := newShop(t)
	titles, labels := s.titles()
	labels[5] = "Rugs"
	_, suspects, err := s.learner(titles, labels).Train(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(suspects) == 0 || suspects[0].Line != 7 || suspects[0].Input != titles[5] || suspects[0].Label != "Rugs" || suspects[0].Answer != "Seating > Sofas" {
		t.Errorf("got %+v", suspects)
	}
}

// An explanation gives the answer itself; its shares add up to 1, and a word is seen as often as the examples have it.
func TestExplain(t *testing.T) {
	s := newShop(t)
	m := s.model(t)
	for _, title := range []string{"Ektorp sofa red", "a settee", "Hektar", "xyz", ""} {
		t.Run(title, func(t *testing.T) {
			matches, contributions := m.Explain(s.sample(title), 3)
			if want := m.Predict(s.sample(title), 3); !reflect.DeepEqual(matches, want) {
				t.Errorf("explained %v, predicted %v", matches, want)
			}
			shares := make(map[int]float64)
			for _, c := range contributions {
				shares[c.Category] += c.Share
				if c.Words == "ektorp" && s.tree.Categories[c.Category].Path == "Seating > Sofas" && c.Seen != len(colours) {
					t.Errorf("ektorp was seen %d times", c.Seen)
				}
			}
			for category, sum := range shares {
				if math.Abs(sum-1) > 1e-9 {
					t.Errorf("the shares of %d add up to %v", category, sum)
				}
			}
		})
	}
}

// Whatever a file with a right digest says, it is refused or gives an answer.
func FuzzRead(f *testing.F) {
	s := newShop(f)
	m := s.model(f)
	f.Add(m.body(), "Ektorp sofa")
	m.Classes = m.Classes[:1]
	f.Add(m.body(), "settee")
	f.Add([]byte{2, '{', '}'}, "")
	f.Fuzz(func(t *testing.T, body []byte, title string) {
		sum := digest(body)
		m, err := Read("fuzz.model", append(append([]byte(firstLine), sum[:]...), body...))
		if err != nil {
			return
		}
		matches, _ := m.Explain(Sample{Fields: []classify.Field{{Text: title, Weight: 1}}}, 3)
		for _, match := range matches {
			if match.Category < 0 || match.Category >= len(m.taxonomy.Categories) || !(match.Confidence > 0 && match.Confidence <= 1) {
				t.Errorf("got %v", match)
			}
		}
	})
}
