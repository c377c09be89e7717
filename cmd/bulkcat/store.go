package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// storeFlags name the store of a command.
type storeFlags struct {
	streams
	path string
}

func (f *storeFlags) options() []option {
	return []option{
		{name: "store", to: &f.path, help: "the `FILE` of the answers (default: the store of the user, $XDG_STATE_HOME/bulkcat/answers.db)"},
	}
}

// newStore makes `store`, whose subcommands use a store without a run.
func newStore(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Count, copy, import, delete and recover stored answers",
		Example: `  bulkcat store stats
  bulkcat store copy /backup/answers.db
  bulkcat store import --store project/answers.db colleague/answers.db
  bulkcat store import old.csv --input-column url --category-column category --source https://api.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStoreStats(s), newStoreCompact(s), newStoreCopy(s), newStoreImport(s), newStoreDelete(s), newStoreRecover(s))
	return cmd
}

// command makes a subcommand that opens the store for do.
func (f *storeFlags) command(use, short string, operands cobra.PositionalArgs, options answers.Options, do func(context.Context, *answers.Store, []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: operands,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(options, func(store *answers.Store) error { return do(cmd.Context(), store, args) })
		},
	}
	addGroup(cmd, "Store", f.options())
	return cmd
}

func newStoreStats(s streams) *cobra.Command {
	f, asJSON := storeFlags{streams: s}, false
	cmd := f.command("stats", "Count the answers, and say how old they are", operands(0, 0, ""), answers.Options{ReadOnly: true},
		func(_ context.Context, store *answers.Store, _ []string) error {
			stats, err := store.Stats(time.Now())
			if err != nil {
				return err
			}
			return s.print(stats, asJSON)
		})
	addGroup(cmd, "Output", jsonOption(&asJSON, "one line of JSON"))
	return cmd
}

func newStoreCompact(s streams) *cobra.Command {
	f := storeFlags{streams: s}
	return f.command("compact", "Make the store as small as possible; runs wait meanwhile", operands(0, 0, ""), answers.Options{MustExist: true},
		func(ctx context.Context, store *answers.Store, _ []string) error { return store.Compact(ctx) })
}

func newStoreCopy(s streams) *cobra.Command {
	f := storeFlags{streams: s}
	return f.command("copy FILE", "Copy the store as it is at one moment to a new file, also during runs", operands(1, 1, "name the new file"), answers.Options{ReadOnly: true},
		func(ctx context.Context, store *answers.Store, args []string) error {
			return newFile(store.Copy(ctx, args[0]))
		})
}

// newFile returns a usage error if err says that a file exists, and other errors as they are.
func newFile(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &usageError{fmt.Errorf("%w: choose another name", err)}
	}
	return err
}

func newStoreRecover(s streams) *cobra.Command {
	f := storeFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "recover FILE",
		Short: "Copy all answers of a damaged store that can be read to a new file",
		Args:  operands(1, 1, "name the new file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := storePath(f.path)
			if err != nil {
				return err
			}
			n, err := answers.Recover(cmd.Context(), path, args[0])
			if err != nil {
				return newFile(err)
			}
			atLeast := ""
			if n.Lost > 0 || n.Cut { // the index is damaged, too
				atLeast = "at least "
			}
			fmt.Fprintf(f.err, "recovered %s; %s%d cannot be read\n", figures.Counted(n.Answers, "answer"), atLeast, n.Lost)
			if n.Cut {
				fmt.Fprintln(f.err, "the end of the store is missing, and how many answers it had is unknown")
			}
			if n.NotesLost {
				fmt.Fprintln(f.err, "some of what API keys have used, and runs have learned, cannot be read: such keys begin with nothing used")
			}
			return nil
		},
	}
	addGroup(cmd, "Store", f.options())
	return cmd
}

// storePath returns the path of a store: name, or answers.UserFile if name is "".
func storePath(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	return answers.UserFile()
}

// with opens the store for one command.
func (f *storeFlags) with(options answers.Options, do func(*answers.Store) error) (err error) {
	if options.Path, err = storePath(f.path); err != nil {
		return err
	}
	store, err := answers.Open(options)
	if err != nil {
		return err
	}
	err = do(store)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	return err
}
