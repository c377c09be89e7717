// Command calibrate fits the classifier's confidences to labelled samples. For each kind of text it prints the loss of the
// coefficients in client/embedded/internal/classify/confidence.go and of the coefficients that fit the samples best. `bulkcat
// eval` measures how often entries are right by their confidence. The samples are no part of the project.
//
//	go run ./client/embedded/internal/calibrate -samples DIR           # print
//	go run ./client/embedded/internal/calibrate -samples DIR -write    # and write the coefficients to confidence.go
//
// DIR holds tab-separated files with a header and two columns, text and label: product_*.tsv with titles, web_domains*.tsv with
// host names, web_pages*.tsv and web_news*.tsv with pages ("URL ||| text", or a text alone), and naics_*.tsv with companies
// ("name ||| description"). A label holds the right paths or codes, '|' between them; entries below a right path or code are
// right, too. Industries by host name are fitted to the classifier's own testdata/naics_hosts.tsv. Run the command in the
// repository's root.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	classifier = "client/embedded/internal/classify"
	source     = classifier + "/confidence.go"
)

// kind is a kind of text with its own calibration.
type kind struct {
	fit       string   // the name of the calibration
	files     []string // patterns below the folder of samples, or of the repository where they have a slash
	others    float64  // the weight of an answer's second and third entry; the first weighs 1
	variables []string // beside the base
}

var (
	texts = []string{"Score", "Margin", "Share", "Coverage"}
	hosts = append([]string{"Head", "Domain"}, texts...)
)

var kinds = []kind{
	{"titleFit", []string{"product_*.tsv"}, 0.5, append([]string{"Whole", "Height", "Leaf"}, texts...)},
	{"pageFit", []string{"web_pages*.tsv", "web_news*.tsv"}, 0.3, []string{"Score", "Leaf", "Words", "WordsTop", "Kin"}},
	{"companyFit", []string{"naics_*.tsv"}, 0.5, texts},
	{"companyNameFit", []string{classifier + "/testdata/naics_hosts.tsv"}, 0.3, hosts},
	{"nameFit", []string{"web_domains*.tsv"}, 0.3, hosts},
}

func main() {
	samples := flag.String("samples", "", "`FOLDER` of labelled samples")
	write := flag.Bool("write", false, "write the fitted coefficients to "+source)
	flag.Parse()
	for _, k := range kinds {
		if err := k.calibrate(*samples, *write, os.Stdout); err != nil {
			fmt.Fprintf(os.Stderr, "calibrate: %s: %v\n", k.fit, err)
			os.Exit(1)
		}
	}
}

// rounds of Newton's method are far more than the coefficients take to converge.
const rounds = 50

func (k kind) calibrate(dir string, write bool, out io.Writer) error {
	sets, err := k.sets(dir, out)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	present, err := parseCalibration(string(text), k.fit)
	if err != nil {
		return err
	}
	var fitted calibration
	for range rounds {
		fitted = improve(fitted, sets, k.variables)
	}
	fmt.Fprintf(out, "%s: %v\n  loss %.4f at present, %.4f fitted\n", k.fit, fitted, loss(present, sets), loss(fitted, sets))
	if !write {
		return nil
	}
	return os.WriteFile(source, []byte(replaceCalibration(string(text), k.fit, fitted)), 0o644)
}

// sets reads the samples of a kind: the entries of each file.
func (k kind) sets(dir string, out io.Writer) ([][]entry, error) {
	var sets [][]entry
	for _, pattern := range k.files {
		if !strings.Contains(pattern, "/") {
			pattern = filepath.Join(dir, pattern)
		}
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			set, err := k.read(file, out)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			sets = append(sets, set)
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no %s in %q", strings.Join(k.files, " and no "), dir)
	}
	return sets, nil
}
