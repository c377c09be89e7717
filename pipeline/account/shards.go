package account

import (
	"fmt"
	"strings"
)

// Shards say how the records of an input are split, in the file at runfiles.ShardsPath in the folder of all shards. The first
// shard to start writes the file, and no other shard replaces it.
type Shards struct {
	Format   int      `json:"format"` // of this file; 1
	Count    int      `json:"count"`
	Split    string   `json:"split"` // SplitRule
	Bulkcat  string   `json:"bulkcat"`
	Service  string   `json:"service"`
	Settings Settings `json:"settings"` // of all shards: Shard is zero, and Output is the folder of all shards
	Checksum string   `json:"checksum"` // SHA-256 of the other members, in hex
}

const shardsFormat = 1

// NewShards returns the Shards of a run. In the settings of common, Shard is zero and Output is the folder of all shards.
func NewShards(count int, common *Account) *Shards {
	return &Shards{
		Format: shardsFormat, Count: count, Split: SplitRule, Bulkcat: common.Bulkcat, Service: common.Service, Settings: common.Settings,
	}
}

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

// ShardsTakenError says that the shards in a folder are those of another run.
type ShardsTakenError struct {
	Folder  string
	Changes []SettingChange // between the run that has started the shards and this run
}

func (e *ShardsTakenError) Error() string { return e.Describe(Texts(e.Changes)) }

// Describe returns the text of the error with the changes in the caller's words.
func (e *ShardsTakenError) Describe(changes []string) string {
	return fmt.Sprintf("%s has the shards of another run (%s): choose another folder, or remove this one with its answers, which 'bulkcat store import' copies", e.Folder, strings.Join(changes, "; "))
}

// Changes returns the differences between the settings of all shards and the settings of a shard.
func (s *Shards) Changes(shard *Account) []SettingChange {
	common := *shard
	common.Settings.Shard = Shard{}
	return common.Changes(s.Service, s.Settings)
}

// Merged returns the account of the file into which the rows of all shards were merged. Its counts are the sums of the shards'
// counts.
func (s *Shards) Merged(accounts []*Account, settings Settings, outputs []Output) *Account {
	a := NewAccount(s.Bulkcat, s.Service, settings)
	a.Started, a.Inputs, a.Reading, a.Carried = accounts[0].Started, accounts[0].Inputs, accounts[0].Reading, accounts[0].Carried
	var counts Snapshot
	saved := int64(0)
	for _, shard := range accounts {
		if shard.Started.Before(a.Started) {
			a.Started = shard.Started
		}
		counts.add(&shard.Counts)
		saved += shard.Saved
	}
	counts.Others = 0 // records of other shards
	a.Finish(Complete, nil, counts, outputs)
	a.Saved, a.Cost = saved, costOfShards(accounts)
	return a
}
