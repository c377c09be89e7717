package pipeline

import (
	"context"

	"github.com/bulkcat/bulkcat/pipeline/backup"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/writer"
)

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
