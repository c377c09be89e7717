package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// newTaxonomy makes `taxonomy`, whose subcommands work with taxonomies without a run.
func newTaxonomy(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "taxonomy",
		Short: "Show and search taxonomies, check a custom taxonomy",
		Example: `  bulkcat taxonomy list
  bulkcat taxonomy show naics 5415
  bulkcat taxonomy search product_taxonomy running shoes
  bulkcat taxonomy check acme.csv
  bulkcat taxonomy link acme.csv -o linked.csv
  bulkcat taxonomy map domains.parquet --to iab-2.2 -o map.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTaxonomyList(s), newTaxonomyShow(s), newTaxonomySearch(s), newTaxonomyCheck(s), newTaxonomyLink(s), newTaxonomyMap(s))
	return cmd
}

func newTaxonomyList(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Name the embedded service's taxonomies, their sizes and editions",
		Args:  operands(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tCATEGORIES\tLEVELS\tEDITION")
			for _, e := range taxonomy.Editions() {
				t := e.Load()
				fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", e.Name, len(t.Categories), t.Levels(), e.Published)
			}
			return w.Flush()
		},
	}
}

func newTaxonomyShow(s streams) *cobra.Command {
	levels := 0
	cmd := &cobra.Command{
		Use:   "show NAME_OR_FILE [PATH_OR_ID]",
		Short: "Show the tree of categories, or the part below one",
		Example: `  bulkcat taxonomy show taxonomy_v3 --depth 1
  bulkcat taxonomy show product_taxonomy 'Furniture > Sofas'
  bulkcat taxonomy show acme.csv`,
		Args: operands(1, 2, "no taxonomy: name one of bulkcat taxonomy list, or a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := openTaxonomy(args[0])
			if err != nil {
				return err
			}
			from := -1
			if len(args) == 2 {
				if from = c.Find(args[1]); from < 0 {
					return fmt.Errorf("%s has no category %q: look for it with bulkcat taxonomy search %s WORDS", args[0], args[1], args[0])
				}
			}
			return c.WriteTree(s.text(), from, levels)
		},
	}
	addGroup(cmd, "Output", []option{
		{name: "depth", to: &levels, check: atLeast(&levels, 0), help: "show `N` levels; 0 for all"},
	})
	return cmd
}

func newTaxonomySearch(s streams) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:     "search NAME_OR_FILE WORDS...",
		Short:   "Find categories by words in their names and aliases, best first",
		Example: "  bulkcat taxonomy search naics dentist",
		Args:    operands(2, anyNumber, "nothing to search: name a taxonomy, and words"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := openTaxonomy(args[0])
			if err != nil {
				return err
			}
			return writeFound(s.text(), c, c.Search(strings.Join(args[1:], " ")), limit)
		},
	}
	addGroup(cmd, "Output", []option{
		{name: "limit", to: &limit, or: 20, check: atLeast(&limit, 1), help: "show the best `N`"},
	})
	return cmd
}

func newTaxonomyCheck(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Find errors, and likely errors, in a custom taxonomy",
		Long: `Find errors, and likely errors, in a custom taxonomy: duplicates, missing parents, categories
with the same words, categories without words, aliases that are the name of another
category, names that are too long. The exit status is 1 if there is a finding.`,
		Args: operands(1, 1, "no taxonomy: name its file"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := loadTaxonomy(args[0])
			if err != nil {
				return err
			}
			found := embedded.CheckTaxonomy(c)
			for _, f := range found {
				fmt.Fprintln(s.text(), f)
			}
			if len(found) > 0 {
				return fmt.Errorf("%s: %s in %d categories", args[0], figures.Counted(len(found), "finding"), len(c.Categories))
			}
			_, err = fmt.Fprintf(s.out, "%s: %s, no findings\n", args[0], describeCustom(c))
			return err
		},
	}
}

func newTaxonomyLink(s streams) *cobra.Command {
	file := newCSV()
	cmd := &cobra.Command{
		Use:   "link FILE",
		Short: "Show which categories of product_taxonomy a custom taxonomy's stand for",
		Long: `Show which categories of product_taxonomy the categories of a custom taxonomy stand for, as far as
their names show it. What the service knows of those serves these. The output is a taxonomy
file itself, with a column links: correct the paths or ids in it, with | between them and a weight
behind = or none, or write none for no link, and give it to --taxonomy. A category with an empty cell is linked by its name.`,
		Example: `  bulkcat taxonomy link acme.csv -o linked.csv
  bulkcat product catalog.csv -o out.parquet --taxonomy acme=linked.csv`,
		Args: operands(1, 1, "no taxonomy: name its file"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := loadTaxonomy(args[0])
			if err != nil {
				return err
			}
			if err := file.check(args[0]); err != nil {
				return err
			}
			return file.publish(s.out, func(out io.Writer) error { return writeLinks(out, c, embedded.LinkTaxonomy(c)) })
		},
	}
	addGroup(cmd, "Output", file.options("a `FILE` of CSV, or - for standard output"))
	return cmd
}

// newCSV returns the output of a command that writes CSV.
func newCSV() *outputFile { return &outputFile{flag: "--output", path: "-", extension: ".csv"} }

// writeLinks writes a taxonomy with the paths that its categories are linked to.
func writeLinks(out io.Writer, c *taxonomy.Custom, links [][]string) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"path", "id", "aliases", "links"}) // Error reports it
	for i := range c.Categories {
		category := &c.Categories[i]
		linked := cmp.Or(strings.Join(links[i], "|"), taxonomy.NoLinks)
		_ = w.Write([]string{category.Path, category.ID, strings.Join(category.Aliases, "|"), linked})
	}
	w.Flush()
	return w.Error()
}

// openTaxonomy opens a published taxonomy by its name, or a custom taxonomy by its file.
func openTaxonomy(name string) (*taxonomy.Custom, error) {
	if t := taxonomy.Published(name); t != nil {
		return &taxonomy.Custom{Taxonomy: *t}, nil
	}
	c, err := loadTaxonomy(name)
	if errors.Is(err, os.ErrNotExist) {
		var names []string
		for _, e := range taxonomy.Editions() {
			if e.IsDefault() {
				names = append(names, e.Name)
			}
		}
		return nil, &usageError{fmt.Errorf("%q is no taxonomy and no file: choose %s, or name a file of paths", name, strings.Join(names, ", "))}
	}
	return c, err
}

func loadTaxonomy(file string) (*taxonomy.Custom, error) {
	c, err := loadCustom(file, file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &usageError{err}
	}
	return c, err
}

func writeFound(out io.Writer, c *taxonomy.Custom, found []taxonomy.Found, limit int) error {
	if len(found) == 0 {
		return errors.New("no name and no alias has these words")
	}
	for _, f := range found[:min(limit, len(found))] {
		fmt.Fprintln(out, f.Describe(&c.Taxonomy))
	}
	if more := len(found) - limit; more > 0 {
		fmt.Fprintf(out, "and %d more: see --limit\n", more)
	}
	return nil
}
