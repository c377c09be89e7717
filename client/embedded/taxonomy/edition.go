package taxonomy

// Edition is a published taxonomy that the embedded service answers in.
type Edition struct {
	Name      string // of the classification, such as "naics"
	Published string // the publisher's name and version of the taxonomy
	Load      func() *Taxonomy
}

// Editions gives all published taxonomies.
func Editions() []Edition {
	return []Edition{
		{"taxonomy_v3", "IAB Tech Lab Content Taxonomy 3.0", IAB},
		{"naics", "North American Industry Classification System 2022", NAICS},
		{"product_taxonomy", "Google product taxonomy, version 2019-07-10", Products},
	}
}

// Published gives the published taxonomy of a classification; nil if there is none.
func Published(classification string) *Taxonomy {
	for _, e := range Editions() {
		if e.Name == classification {
			return e.Load()
		}
	}
	return nil
}

// Levels is the number of levels of the deepest category; 0 for an empty taxonomy.
func (t *Taxonomy) Levels() int {
	levels := 0
	for i := range t.Categories {
		levels = max(levels, t.Categories[i].Depth+1)
	}
	return levels
}
