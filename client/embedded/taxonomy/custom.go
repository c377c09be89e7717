package taxonomy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

const (
	// maxCustomFile bounds a file of a custom taxonomy, in bytes: the product
	// taxonomy has half a megabyte.
	maxCustomFile = 16 << 20

	// maxCustomCategories is near twenty times the product taxonomy. An engine of
	// that many takes a second to build and some hundred megabytes.
	maxCustomCategories = 100_000

	// maxCustomLevels is deeper than any taxonomy in use; seven is the most seen.
	maxCustomLevels = 12
)

// Custom is a taxonomy of a user's own, read from a file of paths. Its values are
// the paths.
type Custom struct {
	Taxonomy
	File  string
	Lines []int // by category: its first line, 0 for a parent that the file leaves out

	repeats []repeat
	unread  []string // columns of the file that mean nothing here
}

// repeat is a line whose path an earlier line has.
type repeat struct{ category, line int }

// LoadCustom reads the taxonomy called name from a file; see [ReadCustom].
func LoadCustom(name, path string) (*Custom, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return ReadCustom(name, path, f)
}

// ReadCustom reads the taxonomy called name. The text is either one path a line,
//
//	Seating > Sofas
//
// or CSV (comma, semicolon or tab) with a header: path, and optionally id and
// aliases, the latter with '|' or ';' between them:
//
//	path,id,aliases
//	Seating > Sofas,12,couch|settee
//
// Blank lines and, without a header, lines that start with '#' are skipped.
// Parents without a line of their own are made. The categories keep the order of
// the file, but that those of one parent stand together. Lines that say the same
// path are one category with the aliases of all.
//
// file is only used in errors, which are *[SyntaxErrors] or those of r.
func ReadCustom(name, file string, r io.Reader) (*Custom, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxCustomFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	problems := &SyntaxErrors{file: file}
	if len(text) > maxCustomFile {
		problems.add(0, "the file is over 16 MiB: a taxonomy holds one line per category and nothing else")
		return nil, problems
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	forest := forest{byPath: make(map[string]int)}
	unread := eachCustomLine(file, string(text), problems, forest.add)
	if len(forest.nodes) == 0 && len(problems.List) == 0 {
		problems.add(0, "there is no category: write one path a line, such as A > B > C")
	}
	if len(problems.List) > 0 {
		return nil, problems
	}
	return forest.custom(name, file, unread), nil
}

// Fingerprint names what rows depend on: paths, their order, aliases and ids. Equal
// fingerprints give equal rows.
func (c *Custom) Fingerprint() string {
	hash := sha256.New()
	for i := range c.Categories {
		category := &c.Categories[i]
		fmt.Fprintf(hash, "%q %q %q\n", category.Path, category.Aliases, category.ID)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// SyntaxErrors are the lines of a custom taxonomy that break its rules, the first
// twenty of them.
type SyntaxErrors struct {
	List []*SyntaxError
	More int // beyond the list

	file string
}

const maxSyntaxErrors = 20

func (e *SyntaxErrors) add(line int, problem string) {
	if len(e.List) == maxSyntaxErrors {
		e.More++
		return
	}
	e.List = append(e.List, &SyntaxError{File: e.file, Line: max(line, 1), Problem: problem})
}

func (e *SyntaxErrors) Error() string {
	var b strings.Builder
	for i, problem := range e.List {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(problem.Error())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand %d more lines", e.More)
	}
	return b.String()
}

func (e *SyntaxErrors) Unwrap() []error {
	list := make([]error, len(e.List))
	for i, problem := range e.List {
		list[i] = problem
	}
	return list
}

// forest grows categories from lines in any order.
type forest struct {
	nodes   []node // in the order of their first mention
	roots   []int
	byPath  map[string]int
	repeats []repeat // of nodes
}

type node struct {
	Category
	line     int // 0 until its own line has come
	children []int
}

// add adds the category of a line and the ancestors it lacks, or says why it
// cannot.
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
	for _, alias := range l.aliases {
		if !slices.Contains(n.Aliases, alias) {
			n.Aliases = append(n.Aliases, alias)
		}
	}
	return ""
}

// grow returns the node of a path, which it makes if it is not there.
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

// custom lays the forest out with every category before its children, and these
// before its next sibling.
func (f *forest) custom(name, file string, unread []string) *Custom {
	c := &Custom{Taxonomy: Taxonomy{Name: name}, File: file, unread: unread}
	place := make([]int, len(f.nodes))
	var lay func(nodes []int, parent int)
	lay = func(nodes []int, parent int) { // as deep as maxCustomLevels
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
