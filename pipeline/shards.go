package pipeline

import (
	"context"
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
)

// joinShards makes the run one of the shards of its folder: the first shard fixes how the records are split, and
// the others compare. The errors are *record.ShardCountError, *OutputTakenError, and those of the file system.
func (s *Session) joinShards(ctx context.Context, account *record.Account) error {
	shard := s.options.Shard
	if shard == (record.Shard{}) {
		return nil
	}
	folder := s.options.folderOfShards()
	common := *account // of all shards
	common.Settings.Shard, common.Settings.Output = "", folder
	if err := record.StartShards(ctx, folder, shard, &common); err != nil {
		return err
	}
	shards, err := record.ReadShards(ctx, folder)
	if err == nil && shards == nil {
		err = fmt.Errorf("%s has been removed", record.ShardsPath(folder))
	}
	switch {
	case err != nil:
		return err
	case shards.Count != shard.Count:
		return &record.ShardCountError{Folder: folder, Count: shards.Count, Shard: shard}
	}
	if changes := common.Changes(shards.Service, shards.Settings); len(changes) > 0 {
		return &ShardsTakenError{Folder: folder, Changes: changes}
	}
	if err := storage.MakeFolder(s.options.Output.Path); err != nil {
		return err
	}
	// The shard may get other rows, so that the folder has to be finished again.
	return storage.Remove(ctx, record.SuccessPath(folder))
}

// ShardsTakenError says that the shards in a folder are those of another run.
type ShardsTakenError struct {
	Folder  string
	Changes []record.SettingChange // between the run that has started the shards and this run
}

func (e *ShardsTakenError) Error() string {
	var changes []string
	for _, c := range e.Changes {
		changes = append(changes, c.String())
	}
	return e.Describe(changes)
}

// Describe is the text of the error, with the changes in the caller's words.
func (e *ShardsTakenError) Describe(changes []string) string {
	return fmt.Sprintf("%s has the shards of another run (%s): remove the folder, or choose another", e.Folder, strings.Join(changes, "; "))
}
