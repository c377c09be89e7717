package suites

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

var (
	folder  = flag.String("suites", "", "the `FOLDER` of all suites")
	python  = flag.String("python", "python3", "interpreter that has pyarrow and DuckDB")
	damaged = flag.String("damaged", "", "read damaged versions of this file, and run no test")
)

func TestMain(m *testing.M) {
	if flag.Parse(); *damaged == "" {
		os.Exit(m.Run())
	}
	if err := readDamaged(os.Stdout, *damaged); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// verdict is the result of a case.
type verdict string

const (
	agrees  verdict = "agrees"
	refused verdict = "refused" // although the reference reads the file
	differs verdict = "differs"
	fails   verdict = "fails" // a crash, too much memory or time, or fewer rows without an error
)

// result is one case of a suite, which is a file or a line of a file.
type result struct {
	suite, name string
	verdict     verdict
	detail      string
}

// suites return a result for each of their cases, in the folder of all suites.
var suites = []func(ctx context.Context, folder string) ([]result, error){csvSuite, jsonSuite, urlSuite, parquetSuite, damagedSuite}

// TestSuites logs a table of the cases, and those with a reason; a case that differs without a reason is an error.
func TestSuites(t *testing.T) {
	if *folder == "" {
		t.Skip("runs with -suites: make test-suites SUITES=FOLDER")
	}
	var names []string
	counts := make(map[string]map[verdict]int)
	explained := make(map[string][]string) // names of cases by verdict and reason
	for _, suite := range suites {
		results, err := suite(t.Context(), *folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if counts[r.suite] == nil {
				names, counts[r.suite] = append(names, r.suite), make(map[verdict]int)
			}
			counts[r.suite][r.verdict]++
			switch reason := reasonFor(r); {
			case r.verdict == agrees:
			case reason == "" || r.verdict == fails:
				t.Errorf("no reason: %s %s %s: %s", r.suite, r.name, r.verdict, r.detail)
			default:
				line := fmt.Sprintf("%s, %s: %s", r.suite, r.verdict, reason)
				explained[line] = append(explained[line], r.name)
			}
		}
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\nsuite\tcases\tagrees\trefused\tdiffers\tfails\t")
	for _, name := range names {
		c := counts[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t\n", name, c[agrees]+c[refused]+c[differs]+c[fails], c[agrees], c[refused], c[differs], c[fails])
	}
	_ = table.Flush() // a strings.Builder takes all
	for _, line := range slices.Sorted(maps.Keys(explained)) {
		fmt.Fprintf(&text, "\n%s\n  %s\n", line, strings.Join(explained[line], " "))
	}
	t.Log(text.String())
}

// The files of the suites.
const (
	csvFiles  = "csv-spectrum/csvs/*.csv"
	jsonFiles = "json/test_parsing/*.json"
)

var parquetFiles = []string{
	"parquet-testing/data/*.parquet", "parquet-testing/data/*.encrypted", "parquet-testing/data/aes256/*.encrypted",
	"parquet-testing/data/geospatial/*.parquet", "parquet-testing/bad_data/*.parquet",
}

// files returns the files below a folder that match patterns. None for a pattern is an error.
func files(folder string, patterns ...string) (paths []string, err error) {
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s has no files %s", folder, pattern)
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// judged is the result with a verdict: wrong, unless the error is nil.
func (r result) judged(wrong verdict, err error) result {
	if r.verdict = agrees; err != nil {
		r.verdict, r.detail = wrong, err.Error()
	}
	return r
}
