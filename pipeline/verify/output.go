package verify

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Paths name an output, and what to compare the output with. URLs are as storage.TakeParameters returns them.
type Paths struct {
	Output string         // a file, a folder of parts, or the folder of all shards
	Input  reader.Options // the default of Columns are the columns of the run; without Paths no input is compared
	Store  string         // a folder of stored answers; "" for the store beside the output, if there is one
}

// Output opens the account, the input and the stored answers of an output, and verifies the output: see [Run] and
// [RunShards]. A store beside the output that a run holds is not compared, but listed in Report.Locked. The errors are
// those of Run, reader.Open and stores.OpenToRead.
func Output(ctx context.Context, p Paths) (report Report, err error) {
	o := &opened{Paths: p}
	defer func() { err = errors.Join(err, o.close()) }()
	if err := o.find(ctx); err != nil {
		return report, fmt.Errorf("verify %s: %w", p.Output, err)
	}
	shards, err := record.ReadShards(ctx, p.Output)
	switch {
	case err != nil:
	case shards != nil:
		report, err = o.verifyShards(ctx, shards)
	default:
		report, err = o.verify(ctx)
	}
	report.Locked = o.locked
	return report, err
}

// opened has what Output opens.
type opened struct {
	Paths
	input  *reader.Reader // nil for none
	stores []*stores.Store
	locked []string // the folders of stores that runs hold
}

func (o *opened) verify(ctx context.Context) (Report, error) {
	account, err := record.ReadAccount(ctx, record.AccountPath(o.Output))
	if err != nil {
		return Report{}, err
	}
	options := Options{Output: writer.Clean(o.Output), Account: account}
	if account == nil {
		options.Input, err = o.openInput(ctx, nil)
	} else {
		options.Input, err = o.openInput(ctx, &account.Settings)
	}
	if err == nil {
		options.Store, err = o.openStore(o.Output, account)
	}
	if err != nil {
		return Report{}, err
	}
	return Run(ctx, options)
}

func (o *opened) verifyShards(ctx context.Context, shards *record.Shards) (Report, error) {
	options := ShardsOptions{Folder: writer.Clean(o.Output), Shards: shards, Finished: true}
	var err error
	if options.Accounts, err = shards.Accounts(ctx, options.Folder); err != nil {
		return Report{}, err
	}
	if options.Input, err = o.openInput(ctx, &shards.Settings); err != nil {
		return Report{}, err
	}
	for i, folder := range shards.Folders(options.Folder) {
		store, err := o.openStore(folder, options.Accounts[i])
		if err != nil {
			return Report{}, err
		}
		options.Stores = append(options.Stores, store)
	}
	return RunShards(ctx, options)
}

// find returns an error if the output does not exist.
func (o *opened) find(ctx context.Context) error {
	found, err := storage.Exists(ctx, o.Output)
	if err == nil && !found && storage.IsURL(o.Output) {
		found, err = storage.IsFolder(ctx, o.Output)
	}
	if err == nil && !found {
		err = syscall.ENOENT
	}
	return err
}

// openInput opens the input as the run did, whose settings may be nil. It returns nil if no input is named.
func (o *opened) openInput(ctx context.Context, settings *record.Settings) (_ *reader.Reader, err error) {
	if len(o.Input.Paths) == 0 {
		return nil, nil
	}
	options := o.Input
	var kind client.Kind
	var normalizer normalize.Normalizer
	if settings != nil {
		normalizer = settings.Normalizer()
		kind = client.Kind(settings.Kind)
		if len(options.Columns) == 0 {
			options.Columns, options.Join = settings.Columns, settings.Join
		}
		options.ExtraColumns, options.NamedOnly = settings.NamedColumns(), settings.Carry != "all"
	}
	options.Candidates, options.Storage = record.InputColumns(kind), storage.Objects{}
	options.Context, options.Missing = ctx, normalizer.IsMissing
	o.input, err = reader.Open(options)
	return o.input, err
}

// openStore returns nil if the store is missing or locked and was not named, and nil without an account, which names
// the service of the answers.
func (o *opened) openStore(output string, account *record.Account) (*answers.Store, error) {
	if account == nil {
		return nil, nil
	}
	dir := o.Store
	if shard, ok := record.ShardOf(output); ok {
		dir = shard.Store(dir, output)
	}
	store, err := stores.OpenToRead(stores.Options{
		Options: answers.Options{Dir: dir, Source: account.Service}, Output: storage.Local(output),
	})
	if err == nil {
		o.stores = append(o.stores, store)
		return store.Store, nil
	}
	locked, isLocked := errors.AsType[*answers.LockedError](err)
	if isLocked && o.Store == "" {
		o.locked = append(o.locked, locked.Dir)
	}
	if _, missing := errors.AsType[*answers.MissingError](err); o.Store == "" && (isLocked || missing) {
		return nil, nil
	}
	return nil, err
}

func (o *opened) close() error {
	if o.input != nil {
		_ = o.input.Close() // only read from
	}
	var errs []error
	for _, store := range o.stores {
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}
