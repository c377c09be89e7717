package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

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
func parquetSuite(folder string) ([]result, error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, part := range []string{"data", "bad_data"} {
		paths, err := parquetFiles(folder, part)
		if err != nil {
			return nil, err
		}
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
	}
	command := exec.Command(*python, "-c", comparePy)
	command.Stdin, command.Stderr = &lines, os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("compare.py: %w", err)
	}
	var results []result
	for scanner := bufio.NewScanner(bytes.NewReader(output)); scanner.Scan(); {
		var r struct{ Path, Verdict, Detail string }
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			return nil, err
		}
		results = append(results, result{"parquet " + filepath.Base(filepath.Dir(r.Path)), filepath.Base(r.Path), verdict(r.Verdict), r.Detail})
	}
	return results, nil
}

func parquetFiles(folder, part string) ([]string, error) {
	paths, err := filesIn([]string{".parquet", ".encrypted"}, folder, "parquet-testing", part)
	if err != nil || part == "bad_data" {
		return paths, err
	}
	for _, below := range []string{"aes256", "geospatial"} {
		more, err := filesIn([]string{".parquet", ".encrypted"}, folder, "parquet-testing", part, below)
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	return paths, nil
}

// parquetColumns calls visit for each column of a Parquet file, and for the columns below.
func parquetColumns(path string, visit func(name string, c *parquet.Column)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	walkColumns("", file.Root(), visit)
	return nil
}

func walkColumns(path string, c *parquet.Column, visit func(name string, c *parquet.Column)) {
	for _, below := range c.Columns() {
		name := below.Name()
		if path != "" {
			name = path + "." + name
		}
		visit(name, below)
		walkColumns(name, below, visit)
	}
}
