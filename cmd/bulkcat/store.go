package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/answers/archive"
	"github.com/bulkcat/bulkcat/pipeline/backup"
	"github.com/bulkcat/bulkcat/pipeline/refresh"
	"github.com/bulkcat/bulkcat/pipeline/stores"
)

// newStore makes `store`, whose commands use a store without a run.
func newStore(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Show, export, import, delete and restore stored answers",
		Example: `  bulkcat store stats bulkcat.answers
  bulkcat store export bulkcat.answers -o answers.jsonl
  bulkcat store import new/bulkcat.answers answers.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStoreStats(s), newStoreCompact(s), newStoreExport(s), newStoreImport(s), newStoreDelete(s), newStoreRestore(s))
	return cmd
}

const noStoreNamed = "no store: name its folder, such as OUTPUT.answers"

func newStoreStats(s streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "stats DIR",
		Short: "Count the answers, and say how old they are and how many are out of date",
		Args:  operands(1, 1, noStoreNamed),
		RunE: func(_ *cobra.Command, args []string) error {
			return withStore(s, answers.Options{Dir: args[0], ReadOnly: true}, func(store *answers.Store) error {
				stats, err := refresh.StatsOf(store, time.Now())
				return errors.Join(s.print(stats, asJSON), err)
			})
		},
	}
	addGroup(cmd, "Output", func(flags *pflag.FlagSet) {
		flags.BoolVar(&asJSON, "json", false, "one line of JSON")
	})
	return cmd
}

func newStoreCompact(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "compact DIR",
		Short: "Make the store as small as possible",
		Args:  operands(1, 1, noStoreNamed),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(s, answers.Options{Dir: args[0], MustExist: true}, func(store *answers.Store) error {
				return store.Compact(cmd.Context())
			})
		},
	}
}

func newStoreExport(s streams) *cobra.Command {
	path := ""
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write all answers as JSON lines",
		Args:  operands(1, 1, noStoreNamed),
		RunE: func(_ *cobra.Command, args []string) error {
			return withStore(s, answers.Options{Dir: args[0], ReadOnly: true}, func(store *answers.Store) error {
				return exportTo(path, s, store)
			})
		},
	}
	addGroup(cmd, "Output", func(flags *pflag.FlagSet) {
		flags.StringVarP(&path, "output", "o", "-", "a new `FILE`, or - for standard output")
	})
	return cmd
}

// exportTo writes all answers that can be read, and keeps the file even if some cannot.
func exportTo(path string, s streams, store *answers.Store) error {
	return s.writeNew(path, func(out io.Writer) error {
		n, err := archive.Export(store, out)
		fmt.Fprintf(s.err, "exported %d answers, %d damaged\n", n, store.Damaged())
		return err
	})
}

// writeNew writes a file that must not exist, for it may be the last good one, or standard output for "-".
func (s streams) writeNew(path string, write func(io.Writer) error) (err error) {
	if path == "-" {
		return write(s.out)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return &usageError{fmt.Errorf("--output: %s exists already: choose another name", path)}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	return write(file)
}

func newStoreImport(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import DIR [FILE]",
		Short: "Add exported answers, of two the newer; a missing store is made",
		Args:  operands(1, 2, noStoreNamed),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, name := s.in, "standard input"
			if len(args) == 2 && args[1] != "-" {
				file, err := os.Open(args[1])
				if err != nil {
					return &usageError{fmt.Errorf("import: %w", err)}
				}
				defer file.Close()
				in, name = file, args[1]
			}
			return withStore(s, answers.Options{Dir: args[0]}, func(store *answers.Store) error {
				imported, err := archive.Import(cmd.Context(), store, in, name)
				fmt.Fprintf(s.err, "imported %d answers, %d were there\n", imported.Added, imported.Kept)
				return err
			})
		},
	}
	cmd.Flags().Bool("create", true, "does nothing: a missing store is made in any case")
	cmd.Flags().Lookup("create").Hidden = true // of earlier versions
	return cmd
}

func newStoreRestore(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "restore COPY DIR",
		Short: "Make a store from the copy of --store-backup",
		Args:  operands(2, 2, "name the folder or URL of the copy, and the folder of the new store"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if answers.IsStore(args[1]) {
				return &usageError{fmt.Errorf("%s is a store already: choose another folder", args[1])}
			}
			restored, err := backup.Restore(cmd.Context(), args[0], args[1], new(logFlags).logger(s.err))
			if err == nil && restored == nil {
				err = fmt.Errorf("there is no copy of a store in %s", args[0])
			}
			return err
		},
	}
}

// withStore opens a store for one command.
func withStore(s streams, options answers.Options, do func(*answers.Store) error) error {
	options.Log = new(logFlags).logger(s.err)
	store, err := stores.Visit(options)
	if err != nil {
		return err
	}
	err = do(store.Store)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	return err
}
