package runfiles

import (
	"context"
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// ReadShards reads how the records in a folder are split. It returns nil and no error if the folder has no shards.
func ReadShards(ctx context.Context, folder string) (*account.Shards, error) {
	s := new(account.Shards)
	switch err := read(ctx, ShardsPath(folder), s); {
	case isAbsent(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read how the records are split: %w", err)
	case s.Split != account.SplitRule:
		return nil, fmt.Errorf("%s splits by %s, which this version does not know", ShardsPath(folder), s.Split)
	}
	return s, (account.Shard{Number: 1, Count: s.Count}).Check()
}

// JoinShards makes the run with the account a one of the shards in folder. The first shard to start fixes the settings of all
// shards, and each shard checks that it has the same settings. The errors are *[account.ShardCountError],
// *[account.ShardsTakenError], those of ReadShards, and those of the storage.
func JoinShards(ctx context.Context, folder string, shard account.Shard, a *account.Account) error {
	common := *a // of all shards
	common.Settings.Shard, common.Settings.Output = account.Shard{}, folder
	if err := StartShards(ctx, folder, shard, &common); err != nil {
		return err
	}
	shards, err := ReadShards(ctx, folder)
	if err == nil && shards == nil {
		err = fmt.Errorf("%s has been removed", ShardsPath(folder))
	}
	switch {
	case err != nil:
		return err
	case shards.Count != shard.Count:
		return &account.ShardCountError{Folder: folder, Count: shards.Count, Shard: shard}
	}
	if changes := shards.Changes(a); len(changes) > 0 {
		return &account.ShardsTakenError{Folder: folder, Changes: changes}
	}
	return storage.MakeFolder(a.Settings.Output)
}

// StartShards writes how the records in a folder are split, unless another shard has done so. common is the account of all
// shards: its Settings.Shard is zero, and its Settings.Output is the folder.
func StartShards(ctx context.Context, folder string, shard account.Shard, common *account.Account) error {
	path, other := ShardsPath(folder), ""
	if found, err := storage.Exists(ctx, path); err != nil || found {
		return err
	}
	names, err := storage.ReadDir(ctx, folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		of, isShard := account.ShardOf(name)
		if !strings.HasPrefix(name, ".") && name != shardsName && !(isShard && of.Count == shard.Count) {
			other = name
		}
	}
	if other != "" {
		// The other folder may belong to shards that another program has just started: the file then exists by now.
		if found, err := storage.Exists(ctx, path); err != nil || found {
			return err
		}
		return fmt.Errorf("%s has files of another run, such as %s: shards need a new or an empty folder", folder, other)
	}
	text, err := account.Seal(path, account.NewShards(shard.Count, common))
	if err == nil {
		_, err = storage.CreateFile(ctx, path, text)
	}
	return err
}

// Folders returns the paths of the folders of all shards.
func Folders(s *account.Shards, folder string) []string {
	folders := make([]string, s.Count)
	for i := range folders {
		folders[i] = disk.Join(folder, account.Shard{Number: i + 1, Count: s.Count}.Folder())
	}
	return folders
}

// Accounts returns the accounts of all shards, by number; nil for a missing account. The error is that of ReadAccount.
func Accounts(ctx context.Context, s *account.Shards, folder string) ([]*account.Account, error) {
	accounts := make([]*account.Account, s.Count)
	for i, shard := range Folders(s, folder) {
		var err error
		if accounts[i], err = ReadAccount(ctx, AccountPath(shard)); err != nil {
			return nil, err
		}
	}
	return accounts, nil
}
