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

// The guide lists the editions of the code.
func TestEditions(t *testing.T) {
	text, err := os.ReadFile(answersPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range taxonomy.Editions() {
		named := false
		for line := range strings.Lines(string(text)) {
			named = named || strings.HasPrefix(line, "| `"+e.Name+"` |") && strings.Contains(line, e.Published)
		}
		if !named {
			t.Errorf("no row of %s in the guide names its edition %s", e.Name, e.Published)
		}
	}
}
