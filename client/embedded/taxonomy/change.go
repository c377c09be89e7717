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
func change(categories []Category, file, text string) ([]Category, error) {
	categories = slices.Clone(categories)
	names := make(map[int]string) // by index
	type added struct {
		after int // the last category of the parent
		Category
	}
	var more []added
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "\t")
		problem := "write + with a path and a name, or = with an id and a name"
		if len(parts) == 3 {
			at := slices.IndexFunc(categories, func(c Category) bool {
				return parts[0] == "=" && c.ID == parts[1] || parts[0] == "+" && c.Path == parts[1]
			})
			name, id, _ := strings.Cut(parts[2], " #")
			switch {
			case at < 0:
				problem = fmt.Sprintf("no category %q", parts[1])
			case parts[0] == "=":
				names[at], problem = name, ""
			default:
				last := at
				for last+1 < len(categories) && strings.HasPrefix(categories[last+1].Path, parts[1]+PathSeparator) {
					last++
				}
				more = append(more, added{last, Category{ID: id, Name: name, Parent: at, Depth: categories[at].Depth + 1}})
				problem = ""
			}
		}
		if problem != "" {
			return nil, &SyntaxError{File: file, Line: number, Problem: problem}
		}
	}
	var all []Category
	place := make([]int, len(categories))
	add := func(c Category) {
		if c.Parent >= 0 {
			c.Parent = place[c.Parent]
			c.Path = all[c.Parent].Path + PathSeparator + c.Name
		} else {
			c.Path = c.Name
		}
		all = append(all, c)
	}
	for i, c := range categories {
		if name, ok := names[i]; ok {
			c.Aliases = append(slices.Clone(c.Aliases), c.Name)
			c.Name = name
		}
		place[i] = len(all)
		add(c)
		for _, a := range more {
			if a.after == i {
				add(a.Category)
			}
		}
	}
	return all, nil
}
