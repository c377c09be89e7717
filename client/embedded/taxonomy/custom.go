package taxonomy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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
	c := customReader{file: file, forest: newForest()}
	if len(text) > maxCustomFile {
		c.report(0, "the file is over 16 MiB: a taxonomy holds one line per category and nothing else")
		return nil, c.err()
	}
	c.read(string(bytes.TrimPrefix(text, []byte("\ufeff"))))
	if len(c.nodes) == 0 && len(c.problems) == 0 {
		c.report(0, "there is no category: write one path a line, such as A > B > C")
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return c.custom(name), nil
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
