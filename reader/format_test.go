package reader

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// A format describes itself: the README has the table of all, and the list of formats is complete.
func TestFormats(t *testing.T) {
	readme, err := os.ReadFile("README.md")
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
	if !strings.Contains(string(readme), table) {
		t.Errorf("README.md does not have the table\n%s", table)
	}
	slices.Sort(extensions)
	if unique := slices.Compact(slices.Clone(extensions)); len(unique) != len(extensions) {
		t.Errorf("two formats have one extension: %v", extensions)
	}
	if got, want := FormatNames(), "csv, jsonl, txt, parquet or xlsx"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
