package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/pipeline/verify"
	"github.com/bulkcat/bulkcat/reader"
)

// verifyFlags are the flags of `verify`.
type verifyFlags struct {
	streams streams
	output  string
	input   inputFlags
	store   storeFlags
	asJSON  bool
}

func newVerify(s streams) *cobra.Command {
	f := &verifyFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "verify OUTPUT [INPUT...]",
		Short: "Compare an output with its account, its input and the stored answers",
		Example: `  bulkcat verify domains.parquet domains.csv
  bulkcat verify out/ --json`,
		Args: operands(1, 0, "nothing to verify: name the output of a run, and the input if you have it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.output, f.input.Paths = args[0], args[1:]
			return f.run(cmd.Context())
		},
	}
	addGroup(cmd, "Input", f.input.bind)
	addGroup(cmd, "Output", func(flags *pflag.FlagSet) {
		flags.BoolVar(&f.asJSON, "json", false, "the report as one line of JSON")
	})
	addGroup(cmd, "Store", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.store.dir, "store", "", "the `DIR` of the stored answers (default "+stores.Name+" beside the output, if it is there)")
	})
	return cmd
}

func (f *verifyFlags) run(ctx context.Context) (err error) {
	if f.output == "-" || f.output == "" {
		return &usageError{errors.New("standard output cannot be verified: name the file or folder that a run has written")}
	}
	if _, err := os.Stat(f.output); err != nil {
		return fmt.Errorf("verify %s: %w", f.output, errors.Unwrap(err))
	}
	account, err := pipeline.ReadAccount(pipeline.AccountPath(f.output))
	if err != nil {
		return err
	}
	options := verify.Options{Output: filepath.Clean(f.output), Account: account}
	if options.Input, err = f.openInput(account); err != nil {
		return err
	}
	if options.Input != nil {
		defer options.Input.Close()
	}
	store, err := f.openStore(account)
	if err != nil {
		return err
	}
	if store != nil {
		defer func() { err = errors.Join(err, store.Close()) }()
		options.Store = store.Store
	}
	report, err := verify.Run(ctx, options)
	if err != nil {
		return err
	}
	if err := f.print(report); err != nil {
		return err
	}
	if !report.Balanced {
		return fmt.Errorf("%s is not balanced", f.output)
	}
	return nil
}

// openInput gives nil if no input is named. The defaults of the flags are the settings of the run.
func (f *verifyFlags) openInput(account *pipeline.Account) (*reader.Reader, error) {
	if len(f.input.Paths) == 0 {
		return nil, nil
	}
	var kind client.Kind
	if account != nil {
		kind = client.Kind(account.Settings.Kind)
		if f.input.Column == "" {
			f.input.Column = account.Settings.Column
		}
		f.input.ExtraColumns, f.input.NamedOnly = account.Settings.NamedColumns(), account.Settings.Carry != "all"
	}
	return f.input.open(kind, f.streams.in)
}

// openStore gives nil if no store is named, and there is none or a run holds it: the output can be verified
// without a store. It also gives nil without an account, which names the service of the answers.
func (f *verifyFlags) openStore(account *pipeline.Account) (*stores.Store, error) {
	if _, err := os.Stat(f.store.dir); f.store.dir != "" && err != nil {
		return nil, &usageError{fmt.Errorf("--store: %s is not there", f.store.dir)}
	}
	if account == nil {
		return nil, nil
	}
	store, err := stores.Look(stores.Options{
		Options: answers.Options{Dir: f.store.dir, Source: account.Service}, Output: f.output,
	})
	_, missing := errors.AsType[*answers.MissingError](err)
	locked, isLocked := errors.AsType[*answers.LockedError](err)
	switch {
	case err == nil:
		return store, nil
	case f.store.dir == "" && isLocked:
		fmt.Fprintf(f.streams.err, "bulkcat: the answers are not compared: a run holds the store %s\n", locked.Dir)
		return nil, nil
	case f.store.dir == "" && missing:
		return nil, nil
	}
	return nil, err
}

func (f *verifyFlags) print(report verify.Report) error {
	if f.asJSON {
		return writeJSON(f.streams.out, report)
	}
	return report.WriteText(f.streams.text())
}
