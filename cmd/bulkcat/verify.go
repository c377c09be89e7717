package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/objects"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/pipeline/verify"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
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
	if f.output, err = objects.Settle(f.output); err != nil {
		return &usageError{err}
	}
	if err := f.find(); err != nil {
		return fmt.Errorf("verify %s: %w", f.output, err)
	}
	if shards, err := pipeline.ReadShards(f.output); err != nil || shards != nil {
		if err != nil {
			return err
		}
		return f.runShards(ctx, shards)
	}
	account, err := pipeline.ReadAccount(pipeline.AccountPath(f.output))
	if err != nil {
		return err
	}
	options := verify.Options{Output: writer.Clean(f.output), Account: account}
	if options.Input, err = f.openInput(account); err != nil {
		return err
	}
	if options.Input != nil {
		defer options.Input.Close()
	}
	store, err := f.openStore(f.output, account)
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
	return reportBalance(f.streams, report, f.output, f.asJSON)
}

// runShards verifies the folder of all shards.
func (f *verifyFlags) runShards(ctx context.Context, shards *pipeline.Shards) (err error) {
	boundMemoryOf(shards.Count)
	options := verify.ShardsOptions{Folder: writer.Clean(f.output), Shards: shards, Finished: true}
	if options.Accounts, err = shards.Accounts(options.Folder); err != nil {
		return err
	}
	common := &pipeline.Account{Settings: shards.Settings}
	if options.Input, err = f.openInput(common); err != nil {
		return err
	}
	if options.Input != nil {
		defer options.Input.Close()
	}
	for i, folder := range shards.Folders(options.Folder) {
		store, openErr := f.openStore(folder, options.Accounts[i])
		if openErr != nil {
			return openErr
		}
		if store == nil {
			options.Stores = append(options.Stores, nil)
			continue
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		options.Stores = append(options.Stores, store.Store)
	}
	report, err := verify.RunShards(ctx, options)
	if err != nil {
		return err
	}
	return reportBalance(f.streams, report, f.output, f.asJSON)
}

// find returns an error if the output does not exist.
func (f *verifyFlags) find() error {
	found, err := objects.Exists(f.output)
	if err == nil && !found && objects.IsURL(f.output) {
		found, err = objects.IsFolder(f.output)
	}
	if err == nil && !found {
		err = syscall.ENOENT
	}
	return err
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
func (f *verifyFlags) openStore(output string, account *pipeline.Account) (*stores.Store, error) {
	if _, err := os.Stat(f.store.dir); f.store.dir != "" && err != nil {
		return nil, &usageError{fmt.Errorf("--store: %s is not there", f.store.dir)}
	}
	if account == nil {
		return nil, nil
	}
	dir := f.store.dir
	if shard, ok := pipeline.ShardOf(output); ok {
		dir = shard.Store(dir, output)
	}
	store, err := stores.Look(stores.Options{
		Options: answers.Options{Dir: dir, Source: account.Service}, Output: objects.Local(output),
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

func printReport(s streams, report verify.Report, asJSON bool) error {
	if asJSON {
		return writeJSON(s.out, report)
	}
	return report.WriteText(s.text())
}
