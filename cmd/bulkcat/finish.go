package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/finish"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/verify"
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
			folder := disk.Clean(options.Folder)
			if err := s.print(report, asJSON); err != nil {
				return err
			}
			if command := shardCommand(cmd.Context(), folder, report); command != "" {
				return fmt.Errorf("%s is not complete: first finish the run of each shard that is named, by its command, such as: %s", folder, command)
			}
			return balance(report, folder)
		},
	}
	addGroup(cmd, "Output", []option{
		{name: "output", short: "o", to: &options.Output, help: "a `FILE` for the rows of all shards, in input order"},
		{name: "output-format", to: (*string)(&options.Format), words: formats, help: "parquet, csv or jsonl (default: by the output's extension)"},
		{name: "overwrite", to: &options.Overwrite, help: "replace a file that exists"},
		{name: "json", to: &asJSON, help: "the report as one line of JSON"},
	})
	return cmd
}

// shardCommand returns the command that runs the first incomplete shard; "" if all shards are complete, or the folder does not
// have the command's operands.
func shardCommand(ctx context.Context, folder string, report verify.Report) string {
	i := slices.IndexFunc(report.Findings, func(f verify.Finding) bool { return f.What == verify.ShardFinding })
	if i < 0 {
		return ""
	}
	shard, ok := account.ShardOf(report.Findings[i].File)
	shards, err := runfiles.ReadShards(ctx, folder)
	if !ok || err != nil || shards == nil {
		return ""
	}
	accounts, err := runfiles.Accounts(ctx, shards, folder)
	if err != nil {
		return ""
	}
	inputs := []string{"INPUT..."}
	for _, a := range accounts {
		if a != nil && len(a.Settings.Inputs) > 0 {
			inputs = a.Settings.Inputs
		}
	}
	args := append([]string{"bulkcat", shards.Settings.Kind}, inputs...)
	return commandLine(append(args, "-o", folder+"/", "--shard", shard.String())) + " (with its other flags)"
}
