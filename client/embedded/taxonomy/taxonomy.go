package taxonomy

// Category is one node of a taxonomy.
type Category struct {
	ID      string   // the publisher's, which other systems know; "" if it has none
	Code    string   // such as "541511" or "31-33" of NAICS; "" in taxonomies without codes
	Name    string   // the category's own name, without its ancestors
	Path    string   // the value answered: "A > B > C", or the code
	Title   string   // of the code; "" in taxonomies without codes
	Parent  int      // index of the parent in Categories, -1 at the top level
	Depth   int      // 0 at the top level
	Local   string   // the path in another language: see Edition.In; "" if none is known
	Aliases []string // other phrases for the category, nil if there are none
	Links   []string // of a custom taxonomy: the categories of the product taxonomy that it stands for, NoLinks for none; nil if its name shows them
}

// Taxonomy is a forest of categories. It is shared and must not be modified.
type Taxonomy struct {
	Name       string
	Categories []Category // parents before their children
}
