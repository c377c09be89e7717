package pipeline

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/backup"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/writer"
)

// openStore gives nil where there is no place for a store, or nothing to store.
func (s *Session) openStore(ctx context.Context, offline bool) (*stores.Store, error) {
	o := &s.options
	if o.inStateFolder() {
		if err := stores.MakeStateFolder(!offline); err != nil {
			return nil, err
		}
	}
	stored, ok := o.stored()
	stored.MustExist, stored.Log = offline && o.Service.Hosted, o.Log
	if o.Store.Backup != "" {
		stored.Restore = func(dir string) error { return s.restore(ctx, dir) }
	}
	if stored.MustExist && !ok {
		return nil, &NoStoreError{Output: o.Output.Path}
	}
	if !ok || !o.keepsAnswers() {
		if o.Store.Backup != "" {
			return nil, &OptionError{Option: "Store.Backup", Err: errors.New("the answers of this run cost nothing and are not stored: name a store, or leave the option out")}
		}
		return nil, nil
	}
	store, err := stores.Open(ctx, stored)
	if err == nil && o.inStateFolder() {
		o.Log.Info("the output is a stream, so the answers are kept in the state folder of the user", "store", store.Dir)
	}
	return store, err
}

// backupPlace is the place of the copy of the store. Each shard has a store of its own.
func (o *SessionOptions) backupPlace() string {
	if o.Shard == (record.Shard{}) {
		return o.Store.Backup
	}
	return writer.Join(o.Store.Backup, o.Shard.Folder())
}

// restore makes a store from its copy, if there is one.
func (s *Session) restore(ctx context.Context, dir string) error {
	_, err := backup.Restore(ctx, s.options.backupPlace(), dir, s.options.Log)
	return err
}

// startBackup copies the store until stop, unless no copy is wanted or nothing is asked. If ctx, which an interruption ends,
// has not ended at stop, its end ends the last copy at once.
func (s *Session) startBackup(ctx, out context.Context, store *stores.Store, offline bool) (stop func() *backup.Progress, err error) {
	o := &s.options
	if o.Store.Backup == "" || offline {
		return func() *backup.Progress { return nil }, nil
	}
	b, err := backup.Start(out, store.Store, backup.Options{
		Place: o.backupPlace(), Dir: store.Dir, Every: o.Store.BackupEvery, Log: o.Log, Notice: "; Ctrl-C ends the wait",
	})
	if err != nil {
		return nil, err
	}
	return func() *backup.Progress {
		if ctx.Err() == nil {
			defer context.AfterFunc(ctx, b.GiveUp)()
		}
		state := b.Stop()
		return &state
	}, nil
}

// inStateFolder reports whether the store is in the state folder of the user: the output is a stream, no folder is named,
// and answers may be charged.
func (o *SessionOptions) inStateFolder() bool {
	return o.Output.Path == "-" && o.Store.Dir == "" && o.Service.Hosted
}

// stored says where the store is, or would be; false if there is no place for one: there is no output, or a stream
// whose answers cost nothing, and no folder is named.
func (o *SessionOptions) stored() (stores.Options, bool) {
	dir, output := o.Store.Dir, o.Output.Path
	if o.inStateFolder() {
		folder, err := stores.StateFolder()
		if err != nil {
			return stores.Options{}, false
		}
		output = filepath.Join(folder, "-")
	}
	if o.Shard != (record.Shard{}) && o.Output.Path != "" {
		dir = o.Shard.Store(dir, o.Output.Path)
	}
	return stores.Options{
		Options: answers.Options{Dir: dir, Source: o.Service.Name, MaxAge: o.Store.MaxAge, RetryRejected: o.Store.RetryRejected},
		Output:  storage.Local(output),
	}, dir != "" || output != "-" && output != ""
}

// keepsAnswers reports whether a run may have answers to store. The embedded service's answers to product
// titles cost nothing.
func (o *SessionOptions) keepsAnswers() bool {
	return o.Service.Hosted || o.Kind == client.Website || o.Store.Dir != ""
}

// keeps reports whether stored answers to these records count.
func (o *StoreOptions) keeps(s record.Statuses) bool {
	return o.MaxAge == 0 && o.RefreshBudget == 0 && !(o.RetryRejected && s.Rejected > 0)
}
