package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/pipeline/finish"
	"github.com/bulkcat/bulkcat/writer/disk"
)

func newFinish(s streams) *cobra.Command {
	var (
		options finish.Options
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "finish OUT",
		Short: "Check that all shards of a folder are complete, and merge their rows",
		Long: `Check that all shards of a run (see --shard) are there, complete and undamaged, and
that each record of the input is in one of them. If so, write OUT/_SUCCESS, and with -o
one file with the rows of all shards in input order. In the format of the shards it is the
file that a run without shards writes. The exit status is that of verify: 1 if a shard is
missing or incomplete, or if the folder is not balanced.`,
		Example: `  bulkcat finish out/
  bulkcat finish out/ -o domains.parquet`,
		Args: operands(1, 1, "no folder: name the output of the shards"),
		RunE: func(cmd *cobra.Command, args []string) error {
			options.Folder = args[0]
			if err := takeParameters(cmd.Context(), &options.Folder, &options.Output); err != nil {
				return err
			}
			boundMemoryOf(cmd.Context(), options.Folder)
			report, err := finish.Run(cmd.Context(), options)
			if _, exists := errors.AsType[*finish.ExistsError](err); exists {
				return &usageError{fmt.Errorf("%w: use --overwrite to replace it", err)}
			}
			if err != nil {
				return flagged(err)
			}
			return s.printBalance(report, disk.Clean(options.Folder), asJSON)
		},
	}
	addGroup(cmd, "Output", []option{
		{name: "output", short: "o", to: &options.Output, help: "a `FILE` for the rows of all shards, in input order"},
		{name: "output-format", to: (*string)(&options.Format), help: "parquet, csv or jsonl (default: by the output's extension)"},
		{name: "overwrite", to: &options.Overwrite, help: "replace a file that exists"},
		{name: "json", to: &asJSON, help: "the report as one line of JSON"},
	})
	return cmd
}
