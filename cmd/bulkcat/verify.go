package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/pipeline/verify"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// verifyFlags are the flags of `verify`.
type verifyFlags struct {
	streams streams
	output  outputFlags // for its path alone
	input   inputFlags
	store   storeFlags
	asJSON  bool
}

func newVerify(s streams) *cobra.Command {
	f := &verifyFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "verify OUTPUT [INPUT...]",
		Short: "Hold an output against its account, its input and the stored answers",
		Example: `  bulkcat verify domains.parquet domains.csv
  bulkcat verify out/ --json`,
		Args: operands(1, 0, "nothing to verify: name the output of a run, and the input if you have it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.output.path, f.input.Paths = args[0], args[1:]
			return f.run(cmd.Context())
		},
	}
	addGroup(cmd, "Input", f.input.bind)
	addGroup(cmd, "Output", func(flags *pflag.FlagSet) {
		flags.BoolVar(&f.asJSON, "json", false, "the balance sheet as one line of JSON")
	})
	addGroup(cmd, "Store", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.store.dir, "store", "", "the `DIR` of the stored answers (default "+stores.Name+" beside the output, if it is there)")
	})
	return cmd
}

func (f *verifyFlags) run(ctx context.Context) (err error) {
	if f.output.path == "-" || f.output.path == "" {
		return &usageError{errors.New("standard output cannot be verified: name the file or folder that a run has written")}
	}
	if _, err := os.Stat(f.output.path); err != nil {
		return fmt.Errorf("verify %s: %w", f.output.path, errors.Unwrap(err))
	}
	account, err := pipeline.ReadAccount(f.output.accountPath())
	if err != nil {
		return err
	}
	options := verify.Options{Output: filepath.Clean(f.output.path), Account: account}
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
		defer func() { err = joinClose(err, store.Close()) }()
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
		return fmt.Errorf("%s is not balanced", f.output.path)
	}
	return nil
}

// openInput gives nil where none is named. What the flags leave open is as in the run.
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
		f.output.carry = account.Settings.Carry
		f.input.ExtraColumns, f.input.NamedOnly = f.output.named(), f.output.carry != "all"
	}
	return f.input.open(kind, f.streams.in)
}

// openStore gives nil where none is named and there is none, or a run holds it: the output may
// be verified without. An account has to say whose answers to look for.
func (f *verifyFlags) openStore(account *pipeline.Account) (*stores.Store, error) {
	if _, err := os.Stat(f.store.dir); f.store.dir != "" && err != nil {
		return nil, &usageError{fmt.Errorf("--store: %s is not there", f.store.dir)}
	}
	if account == nil {
		return nil, nil
	}
	stored, _ := f.store.options(f.output.path, account.Service)
	store, err := stores.Look(stored)
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
		e := json.NewEncoder(f.streams.out)
		e.SetEscapeHTML(false)
		return e.Encode(report)
	}
	return printSheet(f.streams.text(), report)
}

func printSheet(out io.Writer, r verify.Report) error {
	var b strings.Builder
	for _, finding := range r.Findings {
		fmt.Fprintln(&b, finding)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "and %d more findings\n", r.Omitted)
	}
	if r.Balanced {
		b.WriteString("balanced\n")
	}
	fmt.Fprintf(&b, "records  %d%s", r.Records, inSeveral(r.Classifications))
	lead := ": "
	for _, s := range []writer.Status{writer.StatusOK, writer.StatusEmpty, writer.StatusRejected, writer.StatusFailed, writer.StatusInvalid, writer.StatusPending} {
		if n := r.Statuses[s]; n > 0 {
			fmt.Fprintf(&b, "%s%d %s", lead, n, s)
			lead = ", "
		}
	}
	fmt.Fprintf(&b, "\nrows     %d\nfiles    %d, %d bytes\ninput    %d records compared\nstore    %d answers compared, %d not in it\n",
		r.Rows, r.Files, r.Bytes, r.Inputs, r.Stored, r.NotStored)
	_, err := io.WriteString(out, b.String())
	return err
}
