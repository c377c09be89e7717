package taxonomy

import "testing"

func TestFind(t *testing.T) {
	custom, err := readCustom("a.csv", "path,id\nSeating > Sofas,1\nSeating > sofas,2\nLamps,\nLamps > Desk  Lamps,3\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		taxonomy *Taxonomy
		value    string
		id       string
		known    bool
	}{
		{"a product", Products(), "Apparel & Accessories > Shoes", "187", true},
		{"a topic", IAB(), "Attractions > Bars & Restaurants", "179", true},
		{"a topic whose id is no number", IAB(), "Entertainment", "JLBCU7", true},
		{"an industry", NAICS(), "541511", "541511", true},
		{"a sector of several numbers", NAICS(), "31-33", "31-33", true},
		{"another case", IAB(), "politics > Political Issues & Policy", "388", true},
		{"other spaces", Products(), " Apparel  & Accessories>Shoes ", "187", true},
		{"the last level alone", Products(), "Shoes", "", false},
		{"another parent", Products(), "Furniture > Shoes", "", false},
		{"a code of another edition", NAICS(), "443142", "", false},
		{"an industry's title", NAICS(), "Custom Computer Programming Services", "", false},
		{"nothing", IAB(), "", "", false},
		{"our own", &custom.Taxonomy, "Lamps > Desk Lamps", "3", true},
		{"our own without an id", &custom.Taxonomy, "Lamps", "", true},
		{"one of two that differ in case", &custom.Taxonomy, "Seating > sofas", "2", true},
		{"either of two that differ in case", &custom.Taxonomy, "SEATING > SOFAS", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, known := NewIndex(tt.taxonomy).Find(tt.value)
			if c.ID != tt.id || known != tt.known {
				t.Errorf("%q is %q, %t; want %q, %t", tt.value, c.ID, known, tt.id, tt.known)
			}
		})
	}
}

// Every category of the embedded taxonomies has a unique id and is found by its path.
func TestEmbeddedIDs(t *testing.T) {
	for _, taxonomy := range []*Taxonomy{IAB(), Products(), NAICS()} {
		paths, index := map[string]string{}, NewIndex(taxonomy)
		for _, c := range taxonomy.Categories {
			if other, taken := paths[c.ID]; taken || c.ID == "" {
				t.Errorf("%s: %q has the id %q, as has %q", taxonomy.Name, c.Path, c.ID, other)
			}
			paths[c.ID] = c.Path
			if found, ok := index.Find(fold(c.Path)); !ok || found.Path != c.Path {
				t.Errorf("%s: %q is found as %q", taxonomy.Name, c.Path, found.Path)
			}
		}
	}
}
