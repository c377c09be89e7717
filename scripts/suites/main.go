// Command suites holds package reader and the normalizer of package client against test files that others made:
//
//	suites -python PYTHON FOLDER
//
// FOLDER has parquet-testing/data and bad_data (apache/parquet-testing), json/test_parsing (nst/JSONTestSuite),
// csv-spectrum (maxogden/csv-spectrum) and url (web-platform-tests). PYTHON has pyarrow and DuckDB, the references for
// Parquet. Each file is also read cut at 20 places and with one bit flipped in 50. The command prints a table of cases,
// and fails where bulkcat differs from the reference without a reason in reasons.go.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

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
var suites = []func(folder string) ([]result, error){csvSuite, jsonSuite, urlSuite, parquetSuite, damagedSuite}

var python = flag.String("python", "python3", "interpreter that has pyarrow and DuckDB")

func main() {
	damaged := flag.String("damaged", "", "read damaged versions of this file, and nothing else")
	flag.Parse()
	if *damaged != "" {
		exit(readDamaged(os.Stdout, *damaged))
	}
	if flag.NArg() != 1 {
		exit(fmt.Errorf("usage: suites -python PYTHON FOLDER"))
	}
	var all []result
	for _, run := range suites {
		results, err := run(flag.Arg(0))
		if err != nil {
			exit(err)
		}
		all = append(all, results...)
	}
	exit(report(os.Stdout, all))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// report prints the table, the explained cases, and the cases without a reason. It returns an error if there are any of these.
func report(out io.Writer, results []result) error {
	var names []string
	counts := make(map[string]map[verdict]int)
	explained := make(map[string][]string) // names of cases by verdict and reason
	var open []result
	for _, r := range results {
		if counts[r.suite] == nil {
			names, counts[r.suite] = append(names, r.suite), make(map[verdict]int)
		}
		counts[r.suite][r.verdict]++
		switch reason := reasonFor(r); {
		case r.verdict == agrees:
		case reason == "" || r.verdict == fails:
			open = append(open, r)
		default:
			line := fmt.Sprintf("%s, %s: %s", r.suite, r.verdict, reason)
			explained[line] = append(explained[line], r.name)
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "suite\tcases\tagrees\trefused\tdiffers\tfails\t")
	for _, name := range names {
		c := counts[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t\n", name, c[agrees]+c[refused]+c[differs]+c[fails], c[agrees], c[refused], c[differs], c[fails])
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, line := range slices.Sorted(maps.Keys(explained)) {
		fmt.Fprintf(out, "\n%s\n  %s\n", line, strings.Join(explained[line], " "))
	}
	slices.SortStableFunc(open, func(a, b result) int { return cmp.Compare(a.suite, b.suite) })
	for _, r := range open {
		fmt.Fprintf(out, "\nno reason: %s %s %s: %s\n", r.suite, r.name, r.verdict, r.detail)
	}
	if len(open) > 0 {
		return fmt.Errorf("%d cases fail, or differ without a reason", len(open))
	}
	fmt.Fprintf(out, "\n%d passed, 0 failed\n", len(results))
	return nil
}

// filesIn returns the files of a folder whose names end in one of the extensions, sorted by name.
func filesIn(extensions []string, folder ...string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(folder...))
	var paths []string
	for _, entry := range entries {
		if slices.Contains(extensions, filepath.Ext(entry.Name())) {
			paths = append(paths, filepath.Join(filepath.Join(folder...), entry.Name()))
		}
	}
	return paths, err
}
