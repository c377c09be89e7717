package pipeline

import (
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Answers that are stored under one custom taxonomy are found with the same taxonomy, and with no other.
func TestTaxonomySource(t *testing.T) {
	const name = "product_taxonomy_custom_acme"
	source := func(text, classification string) string {
		t.Helper()
		custom, err := taxonomy.ReadCustom(name, "acme.txt", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		o := Options{
			Kind: client.Product, Classifications: []string{classification},
			Taxonomies: []*taxonomy.Custom{custom}, Service: Service{Name: "embedded"},
		}
		return o.withDefaults().Service.Name
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
}
