package reader

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A format describes itself: the guide has the table of all formats.
func TestFormatsAreDescribed(t *testing.T) {
	guide, err := os.ReadFile("../cmd/bulkcat/guide/lists.md")
	if err != nil {
		t.Fatal(err)
	}
	var extensions []string
	table := "|---|---|---|\n"
	for _, f := range formats {
		table += fmt.Sprintf("| `%s` | `%s` | %s |\n", f.name, strings.Join(f.extensions, "` `"), f.content)
		extensions = append(extensions, f.extensions...)
		if byOffset := f.recognize != nil; byOffset != (f.inspect != nil && f.damaged != nil) || byOffset != (f.fit == nil && f.examine == nil) {
			t.Errorf("%s is neither a format of text nor one that is read by offset", f.name)
		}
	}
	if !strings.Contains(string(guide), table) {
		t.Errorf("the guide does not have the table\n%s", table)
	}
	slices.Sort(extensions)
	if unique := slices.Compact(slices.Clone(extensions)); len(unique) != len(extensions) {
		t.Errorf("two formats have one extension: %v", extensions)
	}
	if got, want := FormatNames(), "csv, jsonl, txt, parquet, xlsx or xml"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// pageParser reads records that end with a form feed.
type pageParser struct {
	text   *bufio.Scanner
	number int64
}

func openPages(_ *Reader, _ *file, s *stream) (parser, error) {
	p := &pageParser{text: bufio.NewScanner(s.text)}
	p.text.Split(func(data []byte, _ bool) (int, []byte, error) {
		if n := bytes.IndexByte(data, '\f'); n >= 0 {
			return n + 1, data[:n], nil
		}
		return 0, nil, nil
	})
	return p, nil
}

func (p *pageParser) at() int64 { return p.number + 1 }

func (p *pageParser) next() (row, error) {
	if !p.text.Scan() {
		return row{}, io.EOF
	}
	p.number++
	return row{line: p.number, input: p.text.Text()}, nil
}

// A new format needs its entry in the list of formats, and nothing else.
func TestNewFormat(t *testing.T) {
	known := formats
	defer func() { formats = known }()
	formats = append(slices.Clone(known), &inputFormat{
		name:       "pages",
		extensions: []string{".pages"},
		fit: func(s *beginning, _ *Options) fit {
			if bytes.IndexByte(s.data, '\f') >= 0 {
				return sureFit
			}
			return noFit
		},
		examine: func(*file, *beginning, *Options) (opener, error) { return openPages, nil },
	})
	var text, want strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "%d.com\f", i)
		fmt.Fprintf(&want, "%d %d.com\n", i+1, i)
	}
	tests := []struct {
		name    string
		options Options
	}{
		{"by its extension", Options{Paths: []string{writeFile(t, "a.pages", text.String())}}},
		{"by its content", Options{Paths: []string{writeFile(t, "a.dat", text.String())}}},
		{"by its name", Options{Paths: []string{writeFile(t, "a.csv", text.String())}, Format: "PAGES"}},
		{"compressed", Options{Paths: []string{writeFile(t, "a.pages.gz", gzipped(t, text.String()))}}},
		{"part of a folder", Options{Paths: []string{filepath.Dir(writeFile(t, "a.pages", text.String()))}}},
		{"in a pipe", fromString(text.String(), Options{})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := openReader(t, test.options)
			if got := summary(readAll(t, r)); got != want.String() {
				t.Errorf("got\n%s", got)
			}
			if info := r.Files()[0]; info.Format != "pages" || !info.Whole {
				t.Errorf("got %+v", info)
			}
		})
	}
}
