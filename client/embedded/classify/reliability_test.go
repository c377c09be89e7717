package classify

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

var (
	samplesDir = flag.String("samples", "", "measure and fit the confidences by the labelled samples in this folder; see TestReliability")
	update     = flag.Bool("update", false, "with -samples: write the fitted coefficients to confidence.go")
)

// kind is a kind of text, with its own calibration.
type kind struct {
	name   string
	files  []string // patterns for filepath.Glob
	fit    *calibration
	engine string
	others float64 // the weight of an answer's second and third entry; the first weighs 1
	score  func(e *Engine, s *scratch, text string)
}

var kinds = []kind{
	{"titleFit", []string{"product_*.tsv"}, &titleFit, "products", 0.5, (*Engine).scoreTitle},
	{"pageFit", []string{"web_pages*.tsv", "web_news*.tsv"}, &pageFit, "iab", 0.5, scorePage},
	{"companyFit", []string{"naics_*.tsv"}, &companyFit, "naics", 0.5, scoreCompany},
	{"companyNameFit", []string{"testdata/naics_hosts.tsv"}, &companyNameFit, "naics", 0.3, scoreName},
	{"nameFit", []string{"web_domains*.tsv"}, &nameFit, "iab", 0.3, scoreName},
}

// TestReliability prints, for each kind of text, how often entries are right by
// their confidence, and the coefficients that fit the samples best. It needs
// labelled samples, which are no part of the project:
//
//	go test ./client/embedded/classify -run TestReliability -v -samples DIR [-update]
//
// DIR holds tab-separated files with a header and two columns, text and gold:
// product_*.tsv with titles, web_domains*.tsv with host names, web_pages*.tsv and
// web_news*.tsv with pages ("URL ||| text", or text alone) and naics_*.tsv with companies ("name |||
// description"). Gold holds the right paths or codes, '|' between them; what
// lies below one is right too. The hosts whose industries are judged by the name alone
// are those of testdata/naics_hosts.tsv.
func TestReliability(t *testing.T) {
	if *samplesDir == "" {
		t.Skip("no -samples")
	}
	for _, k := range kinds {
		fitted, sets := *k.fit, readOutcomes(t, k)
		if len(sets) == 0 {
			t.Errorf("%s: no %s in %s", k.name, k.files, *samplesDir)
			continue
		}
		for range 50 { // far more than it takes to settle
			fitted = improve(fitted, sets)
		}
		fmt.Printf("%s: %s\n", k.name, fitted.literal())
		fmt.Printf("  loss %.4f as it is, %.4f as fitted\n", loss(k.fit, sets), loss(&fitted, sets))
		printReliability("as it is", k.fit, sets)
		printReliability("as fitted", &fitted, sets)
		if *update {
			writeFit(t, k.name, fitted)
		}
	}
}

// outcome is an entry of an answer to a sample.
type outcome struct {
	evidence
	rank   int // 0-based
	right  bool
	weight float64
}

// readOutcomes answers the samples of a kind: a list of outcomes for each set.
func readOutcomes(t *testing.T, k kind) [][]outcome {
	t.Helper()
	var files []string
	for _, pattern := range k.files {
		if !strings.HasPrefix(pattern, "testdata/") {
			pattern = filepath.Join(*samplesDir, pattern)
		}
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var sets [][]outcome
	for _, file := range files {
		var set []outcome
		first, top, samples := 0, 0, 0
		eachSample(t, file, func(text string, gold []string) {
			samples++
			found := answerSample(k, text, gold)
			set = append(set, found...)
			if len(found) > 0 && found[0].right {
				first++
			}
			if slices.ContainsFunc(found, func(o outcome) bool { return o.right }) {
				top++
			}
		})
		for i := range set {
			set[i].weight /= float64(samples)
		}
		fmt.Printf("%s: %d samples, first right %.3f, one of three right %.3f\n", filepath.Base(file), samples,
			float64(first)/float64(samples), float64(top)/float64(samples))
		sets = append(sets, set)
	}
	return sets
}

// eachSample calls add for every row of a file but its header.
func eachSample(t *testing.T, file string, add func(text string, gold []string)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	lines.Scan()
	for lines.Scan() {
		text, gold, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			t.Fatalf("%s: a line without a tab: %q", file, lines.Text())
		}
		gold, _, _ = strings.Cut(gold, "\t")
		add(text, strings.Split(gold, "|"))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// answerSample returns up to three entries for a sample, whatever their
// confidence.
func answerSample(k kind, text string, gold []string) []outcome {
	e := engines()[k.engine]
	s := e.borrow()
	defer e.giveBack(s)
	k.score(e, s, text)
	leaders := e.lead(s)
	var found []outcome
	for i := range leaders[:min(3, len(leaders))] {
		o := outcome{evidence: e.evidence(s, leaders, i), rank: i, weight: 1}
		if i > 0 {
			o.weight = k.others
		}
		path := e.taxonomy.Categories[leaders[i].category].Path
		o.right = isRight(path, gold)
		found = append(found, o)
	}
	return found
}

// isRight reports whether a path or code is one of those allowed, or lies below one.
func isRight(path string, gold []string) bool {
	return slices.ContainsFunc(gold, func(g string) bool {
		return path == g || strings.HasPrefix(path, g+taxonomy.PathSeparator) || isCode(g) && strings.HasPrefix(path, g)
	})
}

func isCode(gold string) bool { return strings.Trim(gold, "0123456789-") == "" }

func scoreName(e *Engine, s *scratch, host string) { e.scoreWebsite(s, host, nil, nil) }

func scorePage(e *Engine, s *scratch, text string) {
	url, body, ok := strings.Cut(text, " ||| ")
	if !ok {
		url, body = "", text
	}
	_, host, _ := strings.Cut(url, "://")
	host, _, _ = strings.Cut(host, "/")
	e.scoreWebsite(s, host, nil, []Field{{body, 1}})
}

func scoreCompany(e *Engine, s *scratch, text string) {
	name, body, _ := strings.Cut(text, " ||| ")
	e.scoreWebsite(s, "", nil, []Field{{name, 3}, {body, 1}})
}

// improve takes one step of Newton's method towards the coefficients of greatest
// likelihood, lightly held to 0, and keeps them from turning negative.
func improve(c calibration, sets [][]outcome) calibration {
	const n, ridge = coefficients, 1e-4
	w := c.vector()
	var gradient [n]float64
	var hessian [n][n + 1]float64 // the last column is the gradient's
	for _, set := range sets {
		for _, o := range set {
			x := [n]float64{1, o.score, o.margin, o.share, o.coverage, o.head, o.domain}
			p := c.probability(o.evidence)
			y := 0.0
			if o.right {
				y = 1
			}
			for i := range n {
				gradient[i] += o.weight * (y - p) * x[i]
				for j := range n {
					hessian[i][j] += o.weight * p * (1 - p) * x[i] * x[j]
				}
			}
		}
	}
	for i := range n {
		if i > 0 {
			gradient[i] -= ridge * w[i]
		}
		hessian[i][i] += ridge
		hessian[i][n] = gradient[i]
		if i > 0 && w[i] == 0 && gradient[i] <= 0 { // it stays at its bound
			hessian[i] = [n + 1]float64{}
			hessian[i][i] = 1
		}
	}
	step := solve(hessian)
	for i := range n {
		w[i] += step[i]
		if i > 0 {
			w[i] = max(w[i], 0)
		}
	}
	return calibration{w[0], w[1], w[2], w[3], w[4], w[5], w[6]}
}

// loss is the mean of -log(p), where p is the probability given to what was so.
func loss(c *calibration, sets [][]outcome) float64 {
	sum, weight := 0.0, 0.0
	for _, set := range sets {
		for _, o := range set {
			p := c.probability(o.evidence)
			if !o.right {
				p = 1 - p
			}
			sum -= o.weight * math.Log(p)
			weight += o.weight
		}
	}
	return sum / weight
}

const coefficients = 7 // of a calibration

// solve solves linear equations by Gaussian elimination.
func solve(m [coefficients][coefficients + 1]float64) (x [coefficients]float64) {
	for i := range m {
		pivot := i
		for r := i + 1; r < len(m); r++ {
			if math.Abs(m[r][i]) > math.Abs(m[pivot][i]) {
				pivot = r
			}
		}
		m[i], m[pivot] = m[pivot], m[i]
		for r := range m {
			if r != i {
				f := m[r][i] / m[i][i]
				for c := i; c <= len(m); c++ {
					m[r][c] -= f * m[i][c]
				}
			}
		}
	}
	for i := range m {
		x[i] = m[i][len(m)] / m[i][i]
	}
	return x
}

func (c *calibration) vector() [coefficients]float64 {
	return [coefficients]float64{c.base, c.score, c.margin, c.share, c.coverage, c.head, c.domain}
}

func (c *calibration) literal() string {
	return fmt.Sprintf("calibration{base: %.3f, score: %.3f, margin: %.3f, share: %.3f, coverage: %.3f, head: %.3f, domain: %.3f}",
		c.base, c.score, c.margin, c.share, c.coverage, c.head, c.domain)
}

// printReliability prints a line for the first entries and one for the others: the mean
// confidence and the share right, then the same and the share of samples in every tenth of
// confidence.
func printReliability(title string, c *calibration, sets [][]outcome) {
	for _, part := range []struct {
		name string
		has  func(rank int) bool
	}{
		{"first", func(rank int) bool { return rank == 0 }},
		{"others", func(rank int) bool { return rank > 0 }},
	} {
		var n, right, sum [10]float64
		for _, set := range sets {
			for _, o := range set {
				if !part.has(o.rank) {
					continue
				}
				p := c.probability(o.evidence)
				tenth := min(int(p*10), 9)
				n[tenth] += o.weight
				sum[tenth] += o.weight * p
				if o.right {
					right[tenth] += o.weight
				}
			}
		}
		fmt.Printf("  %-9s %-6s  %.3f>%.3f:", title, part.name, total(sum)/total(n), total(right)/total(n))
		for i := range n {
			if n[i] > 0 {
				fmt.Printf("  %.2f>%.2f (%.2f)", sum[i]/n[i], right[i]/n[i], n[i]/float64(len(sets)))
			}
		}
		fmt.Println()
	}
}

func total(parts [10]float64) (sum float64) {
	for _, part := range parts {
		sum += part
	}
	return sum
}

// writeFit replaces a calibration in confidence.go.
func writeFit(t *testing.T, name string, c calibration) {
	t.Helper()
	const file = "confidence.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(\t` + name + `\s+= ).*`)
	if !line.Match(source) {
		t.Fatalf("%s has no %s", file, name)
	}
	source = line.ReplaceAll(source, []byte("${1}"+c.literal()))
	if err := os.WriteFile(file, source, 0o644); err != nil {
		t.Fatal(err)
	}
}
