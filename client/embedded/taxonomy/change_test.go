package taxonomy

import (
	"slices"
	"strings"
	"testing"
)

func TestEditions(t *testing.T) {
	for _, c := range []struct {
		classification, version string
		categories              int
		has, hasNot             string
	}{
		{"taxonomy_v3", "3.0", 703, "Politics > Political Issues & policy", "Genres > Thriller"},
		{"taxonomy_v3", "3.1", 704, "Genres > Thriller", "Politics > Political Issues & policy"},
		{"product_taxonomy", "2019-07-10", 5582, "Sporting Goods > Athletics > Football > Footballs", "Apparel & Accessories > Clothing > Skirts > Mini Skirts"},
		{"product_taxonomy", "2021-09-21", 5595, "Sporting Goods > Athletics > American Football > American Footballs", "Sporting Goods > Athletics > Football > Footballs"},
	} {
		at := slices.IndexFunc(editions, func(e Edition) bool { return e.Name == c.classification && e.Version == c.version })
		if at < 0 {
			t.Fatalf("no edition %s of %s", c.version, c.classification)
		}
		e := editions[at]
		tree := e.Load()
		if len(tree.Categories) != c.categories {
			t.Errorf("%s %s: %d categories, want %d", c.classification, c.version, len(tree.Categories), c.categories)
		}
		paths, ids := make(map[string]bool), make(map[string]bool)
		for i, category := range tree.Categories {
			if paths[category.Path] || category.ID != "" && ids[category.ID] {
				t.Errorf("%s %s: %s (%s) is there twice", c.classification, c.version, category.Path, category.ID)
			}
			paths[category.Path], ids[category.ID] = true, true
			if p := category.Parent; p >= i || p >= 0 && category.Path != tree.Categories[p].Path+PathSeparator+category.Name {
				t.Errorf("%s %s: %s is under %d", c.classification, c.version, category.Path, p)
			}
		}
		if !paths[c.has] || paths[c.hasNot] {
			t.Errorf("%s %s: has %q: %v, has %q: %v", c.classification, c.version, c.has, paths[c.has], c.hasNot, paths[c.hasNot])
		}
	}
}

func TestChangeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"# only\n+\tA > C\tD #3\n": `new.txt:2: no category "A > C"`,
		"=\t7\tD\n":                `new.txt:1: no category "7"`,
		"=\t1\n":                   "new.txt:1: write +",
		"?\t1\tD\n":                `new.txt:1: no category "1"`,
	} {
		f := newForest()
		if err := f.readOutline("base.txt", "A #1\n\tB #2\n", false); err != nil {
			t.Fatal(err)
		}
		if err := f.change("new.txt", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
