package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

func newTaxonomyMap(s streams) *cobra.Command {
	to, file := "", newCSV()
	cmd := &cobra.Command{
		Use:   "map OUTPUT --to EDITION",
		Short: "Map the categories of an output to another edition of their taxonomy",
		Long: `Map the categories of an output to another edition of their taxonomy, by the ids, which the publishers keep. The
table has a line for each category of the output, with its rows. Join it by category_id or value:
a category that the edition lacks is mapped to its nearest ancestor there (match is broader), or to none.`,
		Example: `  bulkcat taxonomy map domains.parquet --to iab-2.2 -o map.csv
  bulkcat taxonomy map catalog.csv --to google-2021`,
		Args: operands(1, 1, "nothing to map: name the output of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := taxonomy.NewTarget(to)
			if err != nil {
				return &usageError{fmt.Errorf("--to: %w", err)}
			}
			parts, err := s.partsOf(cmd.Context(), &args[0])
			if err != nil {
				return err
			}
			if err := file.check(filesOf(args[0], parts)...); err != nil {
				return err
			}
			found, err := categoriesOf(cmd.Context(), parts, target.Classification)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return fmt.Errorf("%s has no category of %s, which %s is an edition of", args[0], target.Classification, to)
			}
			var mapped map[string]int
			err = file.publish(s.out, func(out io.Writer) (err error) { mapped, err = writeMapping(out, target, found); return err })
			if err == nil {
				fmt.Fprintf(s.err, "%d categories: %d mapped, %d to a broader one, %d to none\n", len(found), mapped["same"], mapped["broader"], mapped["none"])
			}
			return err
		},
	}
	addGroup(cmd, "Output", []option{
		{name: "to", to: &to, help: "the `EDITION`: " + strings.Join(taxonomy.Targets(), ", ")},
	}, file.options("a `FILE` of CSV, or - for standard output"))
	return cmd
}

// categoriesOf counts the rows of an output by their category in a classification.
func categoriesOf(ctx context.Context, parts []readback.Part, classification string) (map[string]int64, error) {
	rows := make(map[string]int64)
	for g, err := range readback.Groups(ctx, parts, writer.ColumnRecord, writer.ColumnClassification, writer.ColumnValue) {
		if err != nil {
			return nil, err
		}
		for _, row := range g.Rows {
			if value := row.Value; value != "" && row.Classification == classification {
				if _, known := rows[value]; !known {
					value = strings.Clone(value) // a substring would keep the whole record in memory
				}
				rows[value]++
			}
		}
	}
	return rows, nil
}

// writeMapping writes the categories, the category with the most rows first, and counts them by their match.
func writeMapping(out io.Writer, target *taxonomy.Target, rows map[string]int64) (map[string]int, error) {
	values := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b))
	})
	n := make(map[string]int)
	w := csv.NewWriter(out)
	_ = w.Write([]string{"value", "category_id", "rows", "mapped_id", "mapped_value", "match"}) // Error reports it
	for _, value := range values {
		m, match := target.Map(value), "same"
		switch {
		case m.ID == "":
			match = "none"
		case m.Broader:
			match = "broader"
		}
		n[match]++
		_ = w.Write([]string{value, m.From, strconv.FormatInt(rows[value], 10), m.ID, m.Name, match})
	}
	w.Flush()
	return n, w.Error()
}
