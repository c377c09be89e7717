package taxonomy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// maxCustomFile is the most bytes of a custom taxonomy. The product taxonomy has half a megabyte.
	maxCustomFile = 16 << 20

	// maxCustomCategories is nearly twenty times the product taxonomy. An engine of so many categories takes a second to build
	// and a few hundred megabytes.
	maxCustomCategories = 100_000

	// maxCustomLevels is the most levels. Taxonomies in use have at most seven.
	maxCustomLevels = 12
)

// Custom is a user's taxonomy, read from a file of paths. Its values are the paths.
type Custom struct {
	Taxonomy
	File  string
	Form  string // of the file, in words, such as "paths with >"
	Lines []int  // by category: its first line; 0 for a parent without a line

	repeats []repeat
	unread  []string // unknown columns of the file
}

// repeat is a line with the path of an earlier line.
type repeat struct{ category, line int }

// ReadCustom reads the taxonomy called name. It detects the form of the file:
//
//   - one path per line, with > :: | / or \ between the levels;
//   - an outline: one name per line, indented by tabs or spaces, with a bullet before every name or none;
//   - either of these with an id before each line, as in Google's taxonomy with ids: 4 - Tools > Drills;
//   - CSV (comma, semicolon, tab or bar) with a header: the column path; or id, parent_id and name; or level_1, level_2, ...;
//   - JSON: objects with name and children, nested objects whose keys are the names, or a list of objects with the members of
//     such a table.
//
// Tables and objects may also have an id, aliases separated by '|' or ';', and links separated by '|'. A link is a path or an id
// of the product taxonomy, and may have a weight ("=0.5"). Without links, links are found by the name. ReadCustom skips blank
// lines and, without a header, lines that start with '#'. It adds parents without a line. Categories are in the order of the
// file, except that descendants follow their ancestor. Lines with the same path are one category with the aliases of all.
//
// file is the name of the file in errors. The error joins a *[SyntaxError] for each of the first twenty malformed lines, or is an error of r.
func ReadCustom(name, file string, r io.Reader) (*Custom, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxCustomFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	problems := &problemList{file: file}
	if len(text) > maxCustomFile {
		problems.add(0, "the file is over 16 MiB: a taxonomy holds one line per category and nothing else")
		return nil, problems.err()
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	forest := forest{byPath: make(map[string]int)}
	lines, form, unread := readLines(file, string(text), problems)
	for _, line := range lines {
		if problem := cmp.Or(checkLinks(line.links), forest.add(line)); problem != "" {
			problems.add(line.number, problem)
		}
	}
	if len(forest.nodes) == 0 && len(problems.list) == 0 {
		problems.add(0, "there is no category: write one path a line, such as A > B > C")
	}
	if err := problems.err(); err != nil {
		return nil, err
	}
	c := forest.custom(name, file, unread)
	c.Form = form
	return c, nil
}

// checkLinks returns the problem of the first malformed link; "" if there is none.
func checkLinks(links []string) string {
	for _, text := range links {
		if _, problem := parseLink(text); problem != "" {
			return problem
		}
	}
	return ""
}

// Link is a link of a custom category to a category of the product taxonomy.
type Link struct {
	Category int     // index in Products
	Weight   float64 // above 0, at most 1
}

// parseLink parses a path or an id, with or without a weight: "Furniture > Sofas=0.5".
func parseLink(text string) (l Link, problem string) {
	name, weight, weighed := strings.Cut(text, "=")
	l.Weight = 1
	if weighed {
		var err error
		if l.Weight, err = strconv.ParseFloat(strings.TrimSpace(weight), 64); err != nil || !(l.Weight > 0 && l.Weight <= 1) {
			return l, fmt.Sprintf("the weight of the link %.200q must be above 0 and at most 1", text)
		}
	}
	l.Category = -1
	if i, ok := linkable()[strings.TrimSpace(name)]; ok {
		l.Category = i
	} else if name != NoLinks {
		return l, fmt.Sprintf("product_taxonomy has no category %.200q to link to: look for it with bulkcat taxonomy search product_taxonomy WORDS", name)
	}
	return l, ""
}

// linkable has the indexes of the product taxonomy's categories by path and id.
var linkable = sync.OnceValue(func() map[string]int {
	all := make(map[string]int)
	for i, c := range Products().Categories {
		all[c.Path], all[c.ID] = i, i
	}
	return all
})

// Linked returns the links of a category; nil if the engine finds them by the category's name.
func (c *Category) Linked() []Link {
	if c.Links == nil {
		return nil
	}
	list := []Link{}
	for _, text := range c.Links {
		if l, _ := parseLink(text); l.Category >= 0 {
			list = append(list, l)
		}
	}
	return list
}

// NoLinks is the link of a category that must have no links.
const NoLinks = "none"

// Fingerprint is a hash of the paths, their order, the aliases, the ids and the links. Taxonomies with equal
// fingerprints give equal rows.
func (c *Custom) Fingerprint() string {
	hash := sha256.New()
	for i := range c.Categories {
		category := &c.Categories[i]
		fmt.Fprintf(hash, "%q %q %q\n", category.Path, category.Aliases, category.ID)
		if category.Links != nil {
			fmt.Fprintf(hash, "%q\n", category.Links)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// problemList has the first twenty malformed lines of a custom taxonomy.
type problemList struct {
	file string
	list []error // *SyntaxError
	more int     // number of further lines
}

const maxProblems = 20

func (p *problemList) add(line int, problem string) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, &SyntaxError{File: p.file, Line: max(line, 1), Problem: problem})
}

// err returns the problems as one error; nil for none.
func (p *problemList) err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more lines", p.more))...)
	}
	return errors.Join(p.list...)
}

// forest builds categories from lines in any order.
type forest struct {
	nodes   []node // in the order of their first mention
	roots   []int
	byPath  map[string]int
	repeats []repeat // of nodes
}

type node struct {
	Category
	line     int // 0 before its own line was read
	children []int
}

// add adds the category of a line and its missing ancestors, or returns a problem.
func (f *forest) add(l customLine) string {
	path := strings.Join(l.names, PathSeparator)
	parent, end := -1, 0
	for depth, name := range l.names {
		end += len(name)
		parent = f.grow(parent, depth, name, path[:end]) // shares the memory of the whole path
		end += len(PathSeparator)
	}
	if len(f.nodes) > maxCustomCategories {
		return fmt.Sprintf("there are over %d categories: that is no taxonomy to choose from", maxCustomCategories)
	}
	n := &f.nodes[parent]
	if n.line == 0 {
		n.line = l.number
	} else {
		f.repeats = append(f.repeats, repeat{parent, l.number})
	}
	if n.ID == "" {
		n.ID = l.id
	}
	n.Aliases = union(n.Aliases, l.aliases)
	n.Links = union(n.Links, l.links)
	return ""
}

// union appends the elements of more that are not in list.
func union(list, more []string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// grow returns the node of a path, and creates it if it does not exist.
func (f *forest) grow(parent, depth int, name, path string) int {
	if i, ok := f.byPath[path]; ok {
		return i
	}
	i := len(f.nodes)
	f.byPath[path] = i
	f.nodes = append(f.nodes, node{Category: Category{Name: name, Path: path, Parent: parent, Depth: depth}})
	if parent < 0 {
		f.roots = append(f.roots, i)
	} else {
		f.nodes[parent].children = append(f.nodes[parent].children, i)
	}
	return i
}

// custom returns the taxonomy of the forest, in depth-first order.
func (f *forest) custom(name, file string, unread []string) *Custom {
	c := &Custom{Taxonomy: Taxonomy{Name: name}, File: file, unread: unread}
	place := make([]int, len(f.nodes))
	var lay func(nodes []int, parent int)
	lay = func(nodes []int, parent int) { // recursion of up to maxCustomLevels
		for _, i := range nodes {
			n := &f.nodes[i]
			place[i] = len(c.Categories)
			n.Parent = parent
			c.Categories = append(c.Categories, n.Category)
			c.Lines = append(c.Lines, n.line)
			lay(n.children, place[i])
		}
	}
	lay(f.roots, -1)
	for _, r := range f.repeats {
		c.repeats = append(c.repeats, repeat{place[r.category], r.line})
	}
	return c
}
