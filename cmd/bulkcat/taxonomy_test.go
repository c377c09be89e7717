package main

import (
	"os"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// The embedded service does not answer in a taxonomy that was not given.
func TestMissingTaxonomy(t *testing.T) {
	if err := new(customFlags).has("product_taxonomy_custom_acme"); err == nil {
		t.Error("a taxonomy that was not given is there")
	}
}

// The README lists the editions of the code.
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
