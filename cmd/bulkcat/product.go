package main

import (
	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
)

func newProduct(s streams) *cobra.Command {
	cmd, _ := newRunCommand(s, client.Product)
	cmd.Short = "Categorize products: titles or URLs"
	cmd.Example = `  bulkcat product catalog.jsonl --column title -o catalog.csv
  bulkcat product 'feeds/*.csv.gz' -o feeds/out/ --carry sku,brand
  bulkcat product catalog.csv -o catalog.parquet --dry-run   # what would it ask?
  bulkcat product "Cast iron skillet"                        # one title, answered on the terminal`
	return cmd
}
