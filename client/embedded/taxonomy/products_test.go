package taxonomy

import (
	"slices"
	"strings"
	"testing"
)

// Titles have "sneakers" instead of the taxonomy's "Shoes", so categories need aliases. An alias
// of many categories distinguishes none of them.
func TestProductAliases(t *testing.T) {
	const (
		leastCategories = 2000
		mostOwners      = 3
	)
	with := 0
	owners := map[string][]string{}
	for _, c := range parsed(t, "products.aliases.txt") {
		if len(c.Aliases) > 0 {
			with++
		}
		if dup := duplicate(c.Aliases); dup != "" {
			t.Errorf("%s: alias %q is there twice", c.Path, dup)
		}
		for _, a := range c.Aliases {
			owners[a] = append(owners[a], c.Path)
			switch {
			case a != strings.ToLower(a):
				t.Errorf("%s: alias %q is not in lower case", c.Path, a)
			case len(a) < 2:
				t.Errorf("%s: alias %q is too short to tell anything", c.Path, a)
			case strings.EqualFold(a, c.Name):
				t.Errorf("%s: alias %q is its name", c.Path, a)
			}
		}
	}
	if with < leastCategories {
		t.Errorf("%d categories have aliases, want %d", with, leastCategories)
	}
	for alias, paths := range owners {
		if len(paths) > mostOwners {
			slices.Sort(paths)
			t.Errorf("alias %q belongs to %q: leave it to %d of them at most", alias, paths, mostOwners)
		}
	}
}
