package main

import (
	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
)

func newWebsite(s streams) *cobra.Command {
	cmd, _ := newRunCommand(s, client.Website)
	cmd.Short = "Categorize websites: URLs or bare domains"
	cmd.Example = `  bulkcat website domains.csv -o domains.parquet
  bulkcat website domains.csv -o domains/ --classification naics   # a folder of parts
  bulkcat website domains.csv -o both.csv --classification taxonomy_v3,naics
  cat domains.txt | bulkcat website - -o - --output-format jsonl
  bulkcat website example.com   # one website, answered on the terminal`
	return cmd
}
