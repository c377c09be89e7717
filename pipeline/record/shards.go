package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Shards say how the records of an input are split, in the file ShardsPath of the folder of all shards. The first
// shard to start writes the file, which no other shard replaces.
type Shards struct {
	Format   int      `json:"format"` // of this file; 1
	Count    int      `json:"count"`
	Split    string   `json:"split"` // the rule that gives the shard of a record
	Bulkcat  string   `json:"bulkcat"`
	Service  string   `json:"service"`
	Settings Settings `json:"settings"` // of all shards: Shard is "", and Output is the folder of all shards
	Checksum string   `json:"checksum"` // SHA-256 of the other members, in hex
}

const shardsFormat = 1

func (s *Shards) format() (known int, found *int) { return shardsFormat, &s.Format }
func (s *Shards) checksum() *string               { return &s.Checksum }

// ShardCountError says that the records in a folder are split into another number of shards.
type ShardCountError struct {
	Folder string
	Count  int // of the shards in the folder
	Shard  Shard
}

func (e *ShardCountError) Error() string {
	return fmt.Sprintf("the records in %s are split into %d shards, and this run is the shard %v", e.Folder, e.Count, e.Shard)
}

// ReadShards reads how the records in a folder are split. It gives nil and no error if the folder holds no shards.
func ReadShards(ctx context.Context, folder string) (*Shards, error) {
	s := new(Shards)
	switch err := read(ctx, ShardsPath(folder), s); {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read how the records are split: %w", err)
	case s.Split != SplitRule:
		return nil, fmt.Errorf("%s splits by %s, which this version does not know", ShardsPath(folder), s.Split)
	}
	return s, (Shard{Number: 1, Count: s.Count}).Check()
}

// ShardsTakenError says that the shards in a folder are those of another run.
type ShardsTakenError struct {
	Folder  string
	Changes []SettingChange // between the run that has started the shards and this run
}

func (e *ShardsTakenError) Error() string { return e.Describe(Texts(e.Changes)) }

// Describe is the text of the error, with the changes in the caller's words.
func (e *ShardsTakenError) Describe(changes []string) string {
	return fmt.Sprintf("%s has the shards of another run (%s): remove the folder, or choose another", e.Folder, strings.Join(changes, "; "))
}

// JoinShards makes a run, whose output is the folder of a shard, one of the shards of a folder: the first shard to start
// fixes how the records are split, and the others compare. The errors are *[ShardCountError], *[ShardsTakenError], and those
// of the storage.
func JoinShards(ctx context.Context, folder string, shard Shard, account *Account) error {
	common := *account // of all shards
	common.Settings.Shard, common.Settings.Output = "", folder
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
		return &ShardCountError{Folder: folder, Count: shards.Count, Shard: shard}
	}
	if changes := shards.Changes(account); len(changes) > 0 {
		return &ShardsTakenError{Folder: folder, Changes: changes}
	}
	if err := storage.MakeFolder(account.Settings.Output); err != nil {
		return err
	}
	// The shard may get other rows, so that the folder has to be finished again.
	return storage.Remove(ctx, SuccessPath(folder))
}

// StartShards writes how the records in a folder are split, unless another shard has done so. The account is that of all
// shards: the shard in its settings is "", and the output is the folder.
func StartShards(ctx context.Context, folder string, shard Shard, common *Account) error {
	path, other := ShardsPath(folder), ""
	if found, err := storage.Exists(ctx, path); err != nil || found {
		return err
	}
	names, err := storage.ReadDir(ctx, folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		of, isShard := ShardOf(name)
		if !strings.HasPrefix(name, ".") && name != shardsName && !(isShard && of.Count == shard.Count) {
			other = name
		}
	}
	if other != "" {
		// The other folders may be those of shards that have started meanwhile, after the file: read the file then.
		if found, err := storage.Exists(ctx, path); err != nil || found {
			return err
		}
		return fmt.Errorf("%s has files of another run, such as %s: shards need a new or an empty folder", folder, other)
	}
	return create(ctx, path, &Shards{
		Format: shardsFormat, Count: shard.Count, Split: SplitRule, Bulkcat: common.Bulkcat, Service: common.Service, Settings: common.Settings,
	})
}

// Changes are the differences between the settings of all shards and those of a shard.
func (s *Shards) Changes(shard *Account) []SettingChange {
	common := *shard
	common.Settings.Shard = ""
	return common.Changes(s.Service, s.Settings)
}

// Folders are the paths of the folders of all shards.
func (s *Shards) Folders(folder string) []string {
	folders := make([]string, s.Count)
	for i := range folders {
		folders[i] = disk.Join(folder, Shard{i + 1, s.Count}.Folder())
	}
	return folders
}

// Accounts are the accounts of all shards, by number; nil where there is none. The error is that of ReadAccount.
func (s *Shards) Accounts(ctx context.Context, folder string) ([]*Account, error) {
	accounts := make([]*Account, s.Count)
	for i, shard := range s.Folders(folder) {
		var err error
		if accounts[i], err = ReadAccount(ctx, AccountPath(shard)); err != nil {
			return nil, err
		}
	}
	return accounts, nil
}

// WriteAccount writes the account of the file into which the rows of all shards were merged. Its counts are the sums
// of those of the shards.
func (s *Shards) WriteAccount(ctx context.Context, folder string, accounts []*Account, output string, format writer.Format, published writer.Published) error {
	settings := s.Settings
	settings.Output, settings.OutputFormat, settings.PartRows = output, string(format), 0
	settings.EscapeFormulas = settings.EscapeFormulas && format.Delimited() // as a run that writes the file has it
	settings.InputPaths = make([]string, len(s.Settings.InputPaths))
	for i, path := range s.Settings.InputPaths {
		if isFile(path) && !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		settings.InputPaths[i] = SeenFrom(output, path)
	}
	a := NewAccount(s.Bulkcat, s.Service, settings)
	a.Started, a.Inputs, a.Reading, a.Carried = accounts[0].Started, accounts[0].Inputs, accounts[0].Reading, accounts[0].Carried
	var counts Snapshot
	for _, shard := range accounts {
		if shard.Started.Before(a.Started) {
			a.Started = shard.Started
		}
		counts.add(&shard.Counts)
	}
	counts.Others = 0 // each record is of another shard for all but one
	a.Finish(Complete, nil, counts, published)
	a.Saved, a.Cost = 0, costOfShards(accounts)
	for _, shard := range accounts {
		a.Saved += shard.Saved
	}
	return a.Write(ctx, AccountPath(output))
}
