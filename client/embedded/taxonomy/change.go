package taxonomy

import (
	"fmt"
	"slices"
	"strings"
)

// change applies the changes of a later edition. Each line is one change, with tabs between its parts:
//
//   - PATH	NAME #ID    adds a category at the end of the parent with the path
//     =	ID	NAME          renames a category, and keeps the old name as an alias
//
// Paths are the paths before the changes. Lines that start with '#' are comments. The error is a *[SyntaxError].
func (f *forest) change(file, text string) error {
	err := eachLine(file, text, func(line string) string {
		parts := strings.Split(line, "\t")
		if len(parts) != 3 {
			return "write + with a path and a name, or = with an id and a name"
		}
		at := slices.IndexFunc(f.nodes, func(n node) bool {
			return parts[0] == "=" && n.ID == parts[1] || parts[0] == "+" && n.Path == parts[1]
		})
		if at < 0 {
			return fmt.Sprintf("no category %q", parts[1])
		}
		c := &f.nodes[at].Category
		if parts[0] == "=" {
			c.Aliases, c.Name = append(c.Aliases, c.Name), parts[2]
			return ""
		}
		name, id, _ := strings.Cut(parts[2], " #")
		added := f.grow(at, c.Depth+1, name, c.Path+PathSeparator+name)
		f.nodes[added].ID = id
		return ""
	})
	for i := range f.nodes { // parents before their children
		c := &f.nodes[i].Category
		c.Path = c.Name
		if c.Parent >= 0 {
			c.Path = f.nodes[c.Parent].Path + PathSeparator + c.Name
		}
	}
	return err
}
