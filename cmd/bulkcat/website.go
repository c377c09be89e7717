package main

import (
	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
)

func newWebsite(s streams) *cobra.Command {
	return newRunCommand(s, client.Website, "Categorize websites: URLs or bare domains",
		`  bulkcat website domains.csv -o domains.parquet
  bulkcat website domains.csv -o domains/ --classification naics   # a folder of parts
  bulkcat website domains.csv -o both.csv --classification taxonomy_v3,naics
  cat domains.txt | bulkcat website - -o - --output-format jsonl`)
}
