package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// What is stored under a taxonomy's source is found again by the same taxonomy, and by no
// other.
func TestTaxonomySource(t *testing.T) {
	const name = "product_taxonomy_custom_acme"
	file := filepath.Join(t.TempDir(), "acme.txt")
	source := func(text, classification string) string {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f := customFlags{given: []string{name + "=" + file}}
		if err := f.load(); err != nil {
			t.Fatal(err)
		}
		return f.source(classification)
	}
	first := source("A > B\n", name)
	if !strings.HasPrefix(first, "embedded+") {
		t.Errorf("source %q", first)
	}
	if again := source("# the same\nA > B\n", name); again != first {
		t.Errorf("source %q, want %q", again, first)
	}
	if other := source("A > C\n", name); other == first {
		t.Errorf("another taxonomy has the source %q, too", other)
	}
	if own := source("A > C\n", "product_taxonomy"); own != "embedded" {
		t.Errorf("the service's own taxonomy has the source %q", own)
	}
	if err := new(customFlags).has(name); err == nil {
		t.Error("a taxonomy that was not given is there")
	}
}

// The README's editions are the code's.
func TestEditions(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range taxonomy.Editions() {
		row := "| `" + e.Name + "` |"
		_, line, ok := strings.Cut(string(text), row)
		line, _, _ = strings.Cut(line, "\n")
		if !ok || !strings.Contains(line, e.Published) {
			t.Errorf("the README's row of %s does not name its edition, %s:%s", e.Name, e.Published, line)
		}
	}
}
