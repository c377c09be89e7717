package taxonomy

// Category is one node of a taxonomy.
type Category struct {
	ID      string   // the publisher's id; "" if it has none
	Code    string   // such as "541511" or "31-33" in NAICS; "" in taxonomies without codes
	Name    string   // the category's own name, without its ancestors
	Path    string   // the value in answers: "A > B > C", or the code
	Title   string   // of the code; "" in taxonomies without codes
	Parent  int      // index of the parent in Categories, -1 at the top level
	Depth   int      // 0 at the top level
	Local   string   // the path in another language: see Edition.In; else ""
	Aliases []string // other phrases for the category, nil if there are none
	Links   []string // in a custom taxonomy: links to the product taxonomy, or NoLinks; nil to find them by the name
}

// Taxonomy is a list of category trees. It is shared and must not be modified.
type Taxonomy struct {
	Name       string
	Categories []Category // parents before their children
}

// IsUnder reports whether two categories are the same, or the first is a descendant of the second.
func (t *Taxonomy) IsUnder(a, b int32) bool {
	for c := int(a); c >= int(b); c = t.Categories[c].Parent {
		if c == int(b) {
			return true
		}
	}
	return false
}

// AreKin reports whether two categories are the same, or one is an ancestor of the other.
func (t *Taxonomy) AreKin(a, b int32) bool { return t.IsUnder(a, b) || t.IsUnder(b, a) }
