package taxonomy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// The digests are of the sorted paths, one a line: a taxonomy's names are
// published facts, so a change of one is a mistake unless the edition changes.
func TestEmbedded(t *testing.T) {
	tests := []struct {
		taxonomy *Taxonomy
		name     string
		count    int
		digest   string
	}{
		{IAB(), "taxonomy_v3", 703, "71f358a22a88434f21a5a530ca759e5618725f2c556de8bd2685f3dd8284f4e9"},
		{Products(), "product_taxonomy", 5582, "15a0c3ec256752ad740ddd7b3227aae08179f348e6983862285e7c8d03f64f48"},
		{NAICS(), "naics", 2125, "91795a4249ee14ec913a8dc442fb90e4f17b1b2c52ec803e0563800db11d0135"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.taxonomy.Name != tt.name {
				t.Errorf("Name = %q, want %q", tt.taxonomy.Name, tt.name)
			}
			paths := make([]string, 0, len(tt.taxonomy.Categories))
			for i, c := range tt.taxonomy.Categories {
				checkCategory(t, tt.taxonomy.Categories, i)
				paths = append(paths, c.Path)
			}
			slices.Sort(paths)
			if len(paths) != tt.count || len(slices.Compact(slices.Clone(paths))) != tt.count {
				t.Errorf("%d paths, want %d different ones", len(paths), tt.count)
			}
			sum := sha256.Sum256([]byte(strings.Join(paths, "\n") + "\n"))
			if got := hex.EncodeToString(sum[:]); got != tt.digest {
				t.Errorf("digest of the paths = %s, want %s", got, tt.digest)
			}
		})
	}
}

// checkCategory compares a category with its parent.
func checkCategory(t *testing.T, categories []Category, i int) {
	t.Helper()
	c := categories[i]
	if c.Parent >= i {
		t.Fatalf("%s: parent %d is not before it", c.Path, c.Parent)
	}
	wantDepth, wantPath := 0, c.Name
	if c.Parent >= 0 {
		parent := categories[c.Parent]
		wantDepth, wantPath = parent.Depth+1, parent.Path+" > "+c.Name
	}
	if c.Code != "" {
		wantPath = c.Code
	}
	if c.Depth != wantDepth || c.Path != wantPath {
		t.Errorf("%q: depth %d path %q, want %d %q", c.Name, c.Depth, c.Path, wantDepth, wantPath)
	}
	if (c.Code == "") != (c.Title == "") {
		t.Errorf("%s: code %q, but title %q", c.Path, c.Code, c.Title)
	}
	if dup := duplicate(c.Aliases); dup != "" {
		t.Errorf("%s: alias %q is there twice", c.Path, dup)
	}
}

func duplicate(list []string) string {
	sorted := slices.Sorted(slices.Values(list))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return sorted[i]
		}
	}
	return ""
}
