package suites

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	_ "embed"

	"github.com/parquet-go/parquet-go"
)

//go:embed compare.py
var comparePy string

// listed is what compare.py reads: the listing of a Parquet file, or the error.
type listed struct {
	Path string `json:"path"`
	Err  string `json:"error"`
	listing
}

// parquetSuite compares the rows of each file with those of pyarrow and DuckDB.
func parquetSuite(ctx context.Context, folder string) ([]result, error) {
	paths, err := files(folder, parquetFiles...)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, path := range paths {
		l, err := list(path)
		entry := listed{Path: path, listing: l}
		if err != nil {
			entry.Err = err.Error()
		}
		if err := encoder.Encode(entry); err != nil {
			return nil, err
		}
	}
	command := exec.CommandContext(ctx, *python, "-c", comparePy)
	command.Stdin, command.Stderr = &lines, os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("compare.py: %w", err)
	}
	var results []result
	for line := range bytes.Lines(output) {
		var r struct{ Path, Verdict, Detail string }
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		results = append(results, result{"parquet " + filepath.Base(filepath.Dir(r.Path)), filepath.Base(r.Path), verdict(r.Verdict), r.Detail})
	}
	return results, nil
}

// leaves returns the dotted paths of the leaves of a Parquet file that do not repeat; nil for another file.
func leaves(path string) (paths []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	file, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil
	}
	var walk func(name string, c *parquet.Column)
	walk = func(name string, c *parquet.Column) {
		if c.Leaf() && c.MaxRepetitionLevel() == 0 {
			paths = append(paths, strings.TrimPrefix(name, "."))
		}
		for _, below := range c.Columns() {
			walk(name+"."+below.Name(), below)
		}
	}
	walk("", file.Root())
	return paths
}
