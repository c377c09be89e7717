package taxonomy

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Target is an edition to which categories of other editions are mapped. Publishers keep the ids of categories in all editions,
// so categories are mapped by their ids.
type Target struct {
	Classification string            // of all these editions, such as "taxonomy_v3"
	names          map[string]string // by id: paths, or for IAB 2.2 names without ancestors
	indexes        []*Index          // of all editions of the classification
}

// iab22 has the ids and names of the IAB 2.2 categories that later editions have, too.
//
//go:embed iab.2.2.tsv
var iab22 string

// targets are the name, the classification and the version of each Target. The version is "" for iab22.
var targets = [][3]string{
	{"google-2019", "product_taxonomy", "2019-07-10"},
	{"google-2021", "product_taxonomy", "2021-09-21"},
	{"iab-2.2", "taxonomy_v3", ""},
	{"iab-3.0", "taxonomy_v3", "3.0"},
	{"iab-3.1", "taxonomy_v3", "3.1"},
}

// Targets returns the names for NewTarget.
func Targets() (names []string) {
	for _, t := range targets {
		names = append(names, t[0])
	}
	return names
}

// NewTarget returns the Target with one of the names of Targets.
func NewTarget(name string) (*Target, error) {
	i := slices.IndexFunc(targets, func(t [3]string) bool { return t[0] == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no edition %q to map to: choose %s", name, strings.Join(Targets(), ", "))
	}
	t := &Target{Classification: targets[i][1], names: make(map[string]string)}
	for _, e := range editions {
		if e.Name != t.Classification {
			continue
		}
		source := e.Load()
		t.indexes = append(t.indexes, NewIndex(source))
		if e.Version == targets[i][2] {
			for _, c := range source.Categories {
				t.names[c.ID] = c.Path
			}
		}
	}
	if targets[i][2] == "" {
		for line := range strings.Lines(iab22) {
			if id, label, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				t.names[id] = label
			}
		}
	}
	return t, nil
}

// Mapped is a category of a Target.
type Mapped struct {
	From    string // id of the category that was mapped
	ID      string // "" for none
	Name    string
	Broader bool // the Target lacks the category: this is its nearest ancestor there
}

// Map maps a category by its path. From is "" if no edition has the path.
func (t *Target) Map(path string) (m Mapped) {
	for _, x := range t.indexes {
		c, ok := x.Find(path)
		if !ok {
			continue
		}
		m.From = c.ID
		for {
			if name, ok := t.names[c.ID]; ok {
				m.ID, m.Name = c.ID, name
				return m
			}
			if m.Broader = true; c.Parent < 0 {
				break
			}
			c = x.categories[c.Parent]
		}
	}
	return Mapped{From: m.From}
}
