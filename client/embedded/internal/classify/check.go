package classify

import (
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Check returns the categories of a custom taxonomy that have no words, the same words as another category, or another
// category's name as an alias, in the order of their lines. [taxonomy.Custom.Check] finds the faults of the file.
func Check(c *taxonomy.Custom) []taxonomy.Finding {
	w := newReading(c)
	var found []taxonomy.Finding
	for i := range c.Categories {
		if w.phrases[i] == "" {
			found = append(found, c.Finding(c.Line(i), "no text matches %q, whose name has no words: add aliases", c.Categories[i].Path))
			continue
		}
		found = append(found, w.twin(i)...)
		found = append(found, w.foreignAliases(i)...)
	}
	taxonomy.SortFindings(found)
	return found
}

// reading is a custom taxonomy with its categories' phrases in the form that an engine compares.
type reading struct {
	*taxonomy.Custom
	phrases []string       // by category: all its phrases as one text, "" if it has none
	names   []string       // by category: the terms of its name
	first   map[string]int // the first category with these phrases
	called  map[string]int // the first category whose name has these terms
}

func newReading(c *taxonomy.Custom) *reading {
	w := &reading{Custom: c, first: map[string]int{}, called: map[string]int{}}
	for i := range c.Categories {
		category := &c.Categories[i]
		phrases, name := strings.Join(phraseKeys(category), "\n"), strings.Join(words.Terms(category.Name), " ")
		w.phrases, w.names = append(w.phrases, phrases), append(w.names, name)
		if _, ok := w.first[phrases]; !ok {
			w.first[phrases] = i
		}
		if _, ok := w.called[name]; !ok {
			w.called[name] = i
		}
	}
	return w
}

// twin finds an earlier category with the same phrases: an engine distinguishes the two only by their parents.
func (w *reading) twin(i int) []taxonomy.Finding {
	first := w.first[w.phrases[i]]
	if first == i {
		return nil
	}
	return []taxonomy.Finding{w.Finding(w.Line(i),
		"%q cannot be told apart from %q (line %d), because their words are the same except for spelling: merge the two, or add aliases to each",
		w.Categories[i].Path, w.Categories[first].Path, w.Line(first))}
}

// foreignAliases finds aliases that are another category's name, and aliases without words.
func (w *reading) foreignAliases(i int) (found []taxonomy.Finding) {
	for _, alias := range w.Categories[i].Aliases {
		terms := strings.Join(words.Terms(alias), " ")
		if terms == "" {
			found = append(found, w.Finding(w.Line(i), "the alias %q has no words and never matches: remove it", alias))
			continue
		}
		if other, ok := w.called[terms]; ok && other != i && w.names[i] != terms {
			found = append(found, w.Finding(w.Line(i), "the alias %q of %q is the name of %q (line %d), so texts with this name match both: remove it",
				alias, w.Categories[i].Path, w.Categories[other].Path, w.Line(other)))
		}
	}
	return found
}
