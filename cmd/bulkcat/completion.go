package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/reader"
)

// columnFlags take the name of a column of the input.
var columnFlags = []string{"column", "input-column", "label-column", "carry"}

// complete registers the completion of values for the flags of a command and of its subcommands.
func complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		var values cobra.CompletionFunc
		switch {
		case f.Annotations[wordsAnnotation] != nil:
			values = cobra.FixedCompletions(f.Annotations[wordsAnnotation], cobra.ShellCompDirectiveNoFileComp)
		case slices.Contains(columnFlags, f.Name):
			values = completeColumns
		case f.Name == "classification":
			values = completeClassifications
		default:
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, values); err != nil {
			panic(err) // cannot happen: the flag exists, and has no completion yet
		}
	})
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
}

// completeColumns returns the columns of the inputs on the command line.
func completeColumns(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 || slices.Contains(args, "-") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	r, err := reader.Open(cmd.Context(), reader.Options{Paths: args})
	if unknown, ok := errors.AsType[*reader.ColumnError](err); ok {
		return unknown.Columns, cobra.ShellCompDirectiveNoFileComp
	}
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer r.Close() // only read from
	return r.Columns(), cobra.ShellCompDirectiveNoFileComp
}

// completeClassifications returns the classifications of the command's kind, or of both kinds.
func completeClassifications(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	for _, kind := range []client.Kind{client.Website, client.Product} {
		if cmd.Name() == string(kind) || cmd.Flags().Lookup("kind") != nil {
			names = append(names, client.Classifications(kind)...)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
