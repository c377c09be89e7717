package classify

import (
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Check returns the categories of a custom taxonomy that have no words, the same words as another category, or another
// category's name as an alias. [taxonomy.Custom.Check] finds the faults of the file.
func Check(c *taxonomy.Custom) (found []taxonomy.Finding) {
	called := map[string]int{} // the first category whose name has these terms
	for i := range c.Categories {
		name := words.Key(c.Categories[i].Name)
		if _, ok := called[name]; !ok {
			called[name] = i
		}
	}
	first := map[string]int{} // the first category with these phrases
	for i := range c.Categories {
		category, line := &c.Categories[i], c.Line(i)
		add := func(format string, args ...any) { found = append(found, c.Finding(line, format, args...)) }
		phrases := strings.Join(phraseKeys(category), "\n")
		if phrases == "" {
			add("no text matches %q, whose name has no words: add aliases", category.Path)
			continue
		}
		if twin, ok := first[phrases]; ok { // an engine distinguishes the two only by their parents
			add("%q cannot be told apart from %q (line %d), because their words are the same except for spelling: merge the two, or add aliases to each",
				category.Path, c.Categories[twin].Path, c.Line(twin))
		} else {
			first[phrases] = i
		}
		for _, alias := range category.Aliases {
			terms := words.Key(alias)
			other, ok := called[terms]
			switch {
			case terms == "":
				add("the alias %q has no words and never matches: remove it", alias)
			case ok && other != i && terms != words.Key(category.Name):
				add("the alias %q of %q is the name of %q (line %d), so texts with this name match both: remove it",
					alias, category.Path, c.Categories[other].Path, c.Line(other))
			}
		}
	}
	return found
}
