package classify

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// TestCalibrate fits the confidences to labelled samples, which are no part of the project, and prints the coefficients with their
// loss and the loss of the present ones:
//
//	go test ./client/embedded/internal/classify -run TestCalibrate -v -samples DIR         # print
//	go test ./client/embedded/internal/classify -run TestCalibrate -samples DIR -write     # and write them to confidence.go
//
// DIR holds tab-separated files with a header and two columns, text and label: product_*.tsv with titles, web_domains*.tsv with
// host names, web_pages*.tsv and web_news*.tsv with pages ("URL ||| text", or a text alone), and naics_*.tsv with companies
// ("name ||| description"). A label holds the right paths or codes, '|' between them; entries below a right path or code are
// right, too. Industries by host name are fitted to testdata/naics_hosts.tsv. `bulkcat eval` measures how often entries are right
// by their confidence.
var (
	samples = flag.String("samples", "", "`FOLDER` of labelled samples for TestCalibrate")
	write   = flag.Bool("write", false, "TestCalibrate writes the fitted coefficients to confidence.go")
)

var (
	ofTexts = []int{ofBase, ofScore, ofMargin, ofShare, ofCoverage}
	ofHosts = append([]int{ofHead, ofDomain}, ofTexts...)
)

// calibrations are the kinds of text with their own calibration.
var calibrations = []struct {
	name      string // in confidence.go
	present   calibration
	load      func() *taxonomy.Taxonomy
	score     func(e *Engine, s *scratch, text string)
	files     []string // patterns
	others    float64  // the weight of an answer's second and third entry; the first weighs 1
	variables []int
}{
	{"titleFit", titleFit, taxonomy.Products, (*Engine).scoreTitle, []string{"product_*.tsv"}, 0.5, append([]int{ofWhole, ofHeight, ofLeaf}, ofTexts...)},
	{"pageFit", pageFit, taxonomy.IAB, scorePage, []string{"web_pages*.tsv", "web_news*.tsv"}, 0.3, []int{ofBase, ofScore, ofLeaf, ofWords, ofWordsTop, ofKin}},
	{"companyFit", companyFit, taxonomy.NAICS, scoreCompany, []string{"naics_*.tsv"}, 0.5, ofTexts},
	{"companyNameFit", companyNameFit, taxonomy.NAICS, scoreName, []string{"testdata/naics_hosts.tsv"}, 0.3, ofHosts},
	{"nameFit", nameFit, taxonomy.IAB, scoreName, []string{"web_domains*.tsv"}, 0.3, ofHosts},
}

func scoreName(e *Engine, s *scratch, host string) { e.scoreWebsite(s, host, nil, nil) }

func scorePage(e *Engine, s *scratch, text string) {
	url, body, ok := strings.Cut(text, " ||| ")
	if !ok {
		url, body = "", text
	}
	_, host, _ := strings.Cut(url, "://")
	host, _, _ = strings.Cut(host, "/")
	e.scoreWebsite(s, host, nil, []Field{{Text: body, Weight: 1}})
}

func scoreCompany(e *Engine, s *scratch, text string) {
	name, body, _ := strings.Cut(text, " ||| ")
	e.scoreWebsite(s, "", nil, []Field{{Text: name, Weight: 3}, {Text: body, Weight: 1}})
}

// sample is an entry of an answer to a labelled text.
type sample struct {
	evidence
	right  float64 // 1, or 0 for a wrong entry
	weight float64
}

func TestCalibrate(t *testing.T) {
	for _, k := range calibrations {
		if *samples == "" && !strings.HasPrefix(k.files[0], "testdata/") {
			continue
		}
		var list []sample
		e := New(k.load())
		for _, pattern := range k.files {
			if !strings.Contains(pattern, "/") {
				pattern = filepath.Join(*samples, pattern)
			}
			files, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				list = append(list, readSamples(t, e, k.score, file, k.others)...)
			}
		}
		fit := fitted(list, k.variables)
		before, after := loss(k.present, list), loss(fit, list)
		t.Logf("%s: %s\n  loss %.4f at present, %.4f fitted", k.name, fit.source(), before, after)
		if !(after <= before+1e-5) {
			t.Errorf("%s: the fitted coefficients are worse than the present ones, or there are no samples", k.name)
		}
		if *write {
			text, err := os.ReadFile("confidence.go")
			if err == nil {
				err = os.WriteFile("confidence.go", []byte(replaceCalibration(string(text), k.name, fit)), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// readSamples classifies the samples of a file. All files weigh the same.
func readSamples(t *testing.T, e *Engine, score func(*Engine, *scratch, string), file string, others float64) (list []sample) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")[1:]
	t.Logf("%s: %d samples", filepath.Base(file), len(lines))
	for i, line := range lines {
		columns := strings.Split(line, "\t")
		if len(columns) < 2 {
			t.Fatalf("%s: line %d has no tab", file, i+2)
		}
		s := e.borrow()
		score(e, s, columns[0])
		leaders := e.leaders(s)
		for rank := range leaders[:min(3, len(leaders))] {
			one := sample{evidence: e.evidence(s, leaders, rank), weight: 1 / float64(len(lines))}
			one.right = share(isRight(e.taxonomy.Categories[leaders[rank].category].Path, strings.Split(columns[1], "|")))
			if rank > 0 {
				one.weight *= others
			}
			list = append(list, one)
		}
		e.giveBack(s)
	}
	return list
}

// isRight reports whether a path or code is allowed, or lies below an allowed path or code.
func isRight(path string, allowed []string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		isCode := strings.Trim(a, "0123456789-") == ""
		return path == a || strings.HasPrefix(path, a+" > ") || isCode && strings.HasPrefix(path, a)
	})
}

// fitted returns the coefficients of greatest likelihood, with a weak ridge penalty. It takes steps of Newton's method along one
// coefficient after the other, until they are small. All coefficients but the base are 0 or more: more evidence must never lower
// a confidence. The coefficients of other variables are 0.
func fitted(list []sample, variables []int) (c calibration) {
	const ridge, small = 1e-4, 1e-7
	for longest := 1.0; longest > small; {
		longest = 0
		for _, k := range variables {
			slope, curvature := 0.0, ridge
			if k != ofBase {
				slope = -ridge * c[k]
			}
			for i := range list {
				s := &list[i]
				p := c.probability(s.evidence)
				slope += s.weight * (s.right - p) * s.evidence[k]
				curvature += s.weight * p * (1 - p) * s.evidence[k] * s.evidence[k]
			}
			before := c[k]
			if c[k] += slope / curvature; k != ofBase {
				c[k] = max(c[k], 0)
			}
			longest = max(longest, math.Abs(c[k]-before))
		}
	}
	return c
}

// loss is the weighted mean of -log(p), where p is the probability given to the true outcome.
func loss(c calibration, list []sample) float64 {
	sum, weight := 0.0, 0.0
	for _, s := range list {
		sum -= s.weight * math.Log(math.Abs(1-s.right-c.probability(s.evidence)))
		weight += s.weight
	}
	return sum / weight
}

// source is the calibration as confidence.go has it: without coefficients of 0.
func (c calibration) source() string {
	var members []string
	for i, name := range []string{"Base", "Score", "Margin", "Share", "Coverage", "Head", "Domain", "Whole", "Height", "Leaf", "Words", "WordsTop", "Kin"} {
		if text := fmt.Sprintf("%.3f", c[i]); strings.Trim(text, "-0.") != "" {
			members = append(members, "of"+name+": "+text)
		}
	}
	return "calibration{" + strings.Join(members, ", ") + "}"
}

// replaceCalibration replaces the named calibration in the text of confidence.go.
func replaceCalibration(text, name string, c calibration) string {
	return regexp.MustCompile(`(?m)^(\t`+name+` += )calibration\{.*\}$`).ReplaceAllString(text, "${1}"+c.source())
}

// The fit finds the coefficients by which the samples were drawn.
func TestFitted(t *testing.T) {
	want := calibration{-2, 1.5, 0, 3, 0.5}
	random := rand.New(rand.NewPCG(1, 1))
	var list []sample
	for range 20_000 {
		s := sample{evidence: evidence{ofBase: 1}, weight: 1}
		for i := 1; i < variables; i++ {
			s.evidence[i] = random.Float64()
		}
		s.right = share(random.Float64() < want.probability(s.evidence))
		list = append(list, s)
	}
	got := fitted(list, ofTexts)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.15 || i > 0 && got[i] < 0 {
			t.Errorf("the coefficient %d is %.3f, want %.3f", i, got[i], want[i])
		}
	}
	if least := loss(want, list); loss(got, list) > least || loss(calibration{}, list) <= least {
		t.Errorf("loss %.4f fitted, %.4f of the right coefficients, %.4f of none", loss(got, list), least, loss(calibration{}, list))
	}
}

// The calibrations are written to confidence.go as they stand there.
func TestCalibrationsInTheSource(t *testing.T) {
	content, err := os.ReadFile("confidence.go")
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for _, k := range calibrations {
		if replaceCalibration(text, k.name, k.present) != text {
			t.Errorf("%s changes when it is written as it is", k.name)
		}
		if changed := replaceCalibration(text, k.name, calibration{0.125}); !strings.Contains(changed, "= calibration{ofBase: 0.125}") {
			t.Errorf("%s does not change when it is written", k.name)
		}
	}
}

func TestIsRight(t *testing.T) {
	for _, tt := range []struct {
		name, path, label string
		want              bool
	}{
		{"the same path", "A > B", "A > B", true},
		{"below the path", "A > B > C", "A > B", true},
		{"above the path", "A", "A > B", false},
		{"a longer name", "A > Bx", "A > B", false},
		{"one of several", "C", "A|C", true},
		{"below a code", "541511", "5415", true},
		{"another code", "541611", "5415", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := isRight(tt.path, strings.Split(tt.label, "|")); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}
