package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
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

const (
	shardsFormat = 1
	shardsName   = "_shards.json"
)

// ShardsPath is the path of the file that says how the records in a folder are split.
func ShardsPath(folder string) string { return writer.Join(folder, shardsName) }

// ShardCountError says that the records in a folder are split into another number of shards.
type ShardCountError struct {
	Folder string
	Count  int // of the shards in the folder
	Shard  Shard
}

func (e *ShardCountError) Error() string {
	return fmt.Sprintf("the records in %s are split into %d shards, and this run is the shard %v", e.Folder, e.Count, e.Shard)
}

// SuccessPath is the path of the empty file that says that a folder is complete.
func SuccessPath(folder string) string { return writer.Join(folder, "_SUCCESS") }

// ReadShards reads how the records in a folder are split. It gives nil and no error if the folder holds no shards.
func ReadShards(ctx context.Context, folder string) (*Shards, error) {
	path := ShardsPath(folder)
	text, err := storage.ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how the records are split: %w", err)
	}
	var s Shards
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read how the records are split: %s: %w", path, err)
	}
	switch {
	case s.Checksum != s.seal():
		return nil, fmt.Errorf("read how the records are split: %s: %w", path, errSeal)
	case s.Format != shardsFormat || s.Split != splitName:
		return nil, fmt.Errorf("%s is of format %d and splits by %s, which this version does not know", path, s.Format, s.Split)
	}
	return &s, (Shard{Number: 1, Count: s.Count}).check()
}

// Changes are the differences between the settings of all shards and those of a shard.
func (s *Shards) Changes(shard *Account) []Change {
	common := *shard
	common.Settings.Shard = ""
	return common.changes(s.Service, s.Settings)
}

// Folders are the paths of the folders of all shards.
func (s *Shards) Folders(folder string) []string {
	folders := make([]string, s.Count)
	for i := range folders {
		folders[i] = writer.Join(folder, Shard{i + 1, s.Count}.Folder())
	}
	return folders
}

func (s *Shards) seal() string {
	unsealed := *s
	unsealed.Checksum = ""
	return seal(unsealed)
}

// joinShards makes the run one of the shards of its folder: the first shard fixes how the records are split, and
// the others compare. The errors are *ShardCountError, *OutputTakenError, and those of the file system.
func (s *Session) joinShards(ctx context.Context, account *Account) error {
	shard := s.options.Shard
	if shard == (Shard{}) {
		return nil
	}
	folder := s.options.folderOfShards()
	common := *account // of all shards
	common.Settings.Shard, common.Settings.Output = "", folder
	if err := startShards(ctx, folder, shard, &common); err != nil {
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
	if changes := common.changes(shards.Service, shards.Settings); len(changes) > 0 {
		return &ShardsTakenError{Folder: folder, Changes: changes}
	}
	if err := storage.MakeFolder(s.options.Output.Path); err != nil {
		return err
	}
	// The shard may get other rows, so that the folder has to be finished again.
	return storage.Remove(ctx, SuccessPath(folder))
}

// startShards writes how the records are split, unless another shard has done so.
func startShards(ctx context.Context, folder string, shard Shard, common *Account) error {
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
	s := Shards{Format: shardsFormat, Count: shard.Count, Split: splitName, Bulkcat: common.Bulkcat, Service: common.Service, Settings: common.Settings}
	s.Checksum = s.seal()
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = storage.CreateFile(ctx, path, append(text, '\n'))
	return err
}

// ShardsTakenError says that the shards in a folder are those of another run.
type ShardsTakenError struct {
	Folder  string
	Changes []Change // between the run that has started the shards and this run
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
