package taxonomy

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	edition, _ := EditionOf("product_taxonomy")
	if got := len(edition.Languages()); got != 15 {
		t.Errorf("%d languages, want 15", got)
	}
	ids := make(map[string]bool)
	for _, c := range edition.Load().Categories {
		ids[c.ID] = true
	}
	for language, names := range Names() {
		if len(names) < 5300 {
			t.Errorf("%s has %d names", language, len(names))
		}
		for id, name := range names {
			if !ids[id] || name == "" || strings.TrimSpace(name) != name || strings.Contains(name, ">") {
				t.Errorf("%s: id %q, name %q", language, id, name)
			}
		}
	}
}

func TestIn(t *testing.T) {
	edition, _ := EditionOf("product_taxonomy")
	local := edition.In("de")
	for path, want := range map[string]string{
		"Apparel & Accessories > Shoes": "Bekleidung & Accessoires > Schuhe",
	} {
		if got := local.Categories[local.Find(path)].Local; got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	for i := range local.Categories {
		c := &local.Categories[i]
		if strings.Count(c.Local, PathSeparator) != c.Depth || strings.Contains(c.Local, PathSeparator+PathSeparator) {
			t.Errorf("%s is %q", c.Path, c.Local)
		}
	}
	if edition.Load().Categories[0].Local != "" {
		t.Error("the taxonomy itself has changed")
	}
}
