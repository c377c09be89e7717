package taxonomy

import (
	"slices"
	"testing"
)

func TestSearch(t *testing.T) {
	c, err := readCustom("a.csv", "path,aliases\nShoes,running shoes|sneakers\nShoes > Shoe Care,\nRunning,\nLamps,desk light")
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]string{
		"shoe":          {"Shoes", "Shoes > Shoe Care"},
		"running shoes": {"Shoes", "Running", "Shoes > Shoe Care"},
		"SNEAKER":       {"Shoes"},
		"desk":          {"Lamps"},
		"nothing":       nil,
		"the":           nil,
	} {
		var got []string
		for _, f := range c.Search(query) {
			got = append(got, c.Categories[f.Category].Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}
