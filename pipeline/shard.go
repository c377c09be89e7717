package pipeline

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Shard is one of the parts into which the records of an input are split. Each shard is a run of its own. The
// zero value is the whole input.
type Shard struct {
	Number int // from 1
	Count  int // of the shards
}

// MaxShards is the most shards of an input. Each shard reads the whole input, and the merge of the shards opens
// one file of each.
const MaxShards = 9999

// splitName is the name of the rule of [Shard.holds]. Shards of different rules must not be mixed.
const splitName = "xxh64-site-1"

// ParseShard parses "3/16", the third of sixteen shards.
func ParseShard(text string) (Shard, error) {
	number, count, ok := strings.Cut(text, "/")
	var s Shard
	var errs [2]error
	s.Number, errs[0] = strconv.Atoi(number)
	s.Count, errs[1] = strconv.Atoi(count)
	if !ok || errors.Join(errs[:]...) != nil {
		return Shard{}, fmt.Errorf("%q must be a number and a count, such as 3/16 for the third of sixteen shards, or auto", text)
	}
	return s, s.check()
}

func (s Shard) check() error {
	switch {
	case s == Shard{}:
		return nil
	case s.Count < 1 || s.Count > MaxShards:
		return fmt.Errorf("%v: the number of shards must be 1 to %d", s, MaxShards)
	case s.Number < 1 || s.Number > s.Count:
		return fmt.Errorf("%v: the number of the shard must be 1 to %d", s, s.Count)
	}
	return nil
}

// String is the shard as ParseShard takes it; "" for the whole input.
func (s Shard) String() string {
	if s == (Shard{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Count)
}

// Folder is the name of the shard's folder: "shard=03-of-16".
func (s Shard) Folder() string {
	digits := max(2, len(strconv.Itoa(s.Count)))
	return fmt.Sprintf("shard=%0*d-of-%d", digits, s.Number, s.Count)
}

// ShardOf is the shard whose folder is at path; false for other paths.
func ShardOf(path string) (Shard, bool) {
	var s Shard
	name := filepath.Base(filepath.Clean(path))
	if _, err := fmt.Sscanf(name, "shard=%d-of-%d", &s.Number, &s.Count); err != nil {
		return Shard{}, false
	}
	return s, s.Count > 0 && s.check() == nil && s.Folder() == name
}

// part is the shard's part of a total that all shards share. The parts add up to the total.
func (s Shard) part(total int64) int64 {
	number, count := int64(s.Number), int64(s.Count)
	ofFirst := func(n int64) int64 { return total/count*n + total%count*n/count } // without overflow
	return ofFirst(number) - ofFirst(number-1)
}

// shardStore is the name of a shard's store in its folder, which query engines ignore.
const shardStore = "_answers"

// Store is the folder of the shard's store. Each shard has a store of its own, because a store is open in one
// process at a time: in the folder of the shard (that of storage.Local for a URL), or in a folder of the shard's name
// under dir.
func (s Shard) Store(dir, output string) string {
	if dir == "" {
		return filepath.Join(storage.Local(output), shardStore)
	}
	return filepath.Join(dir, s.Folder())
}

// splitter says which records a shard has.
type splitter struct {
	shard      Shard
	kind       client.Kind
	normalizer client.Normalizer
	hash       *xxhash.Digest
}

func (o *Options) splitter() *splitter {
	return &splitter{shard: o.Shard, kind: o.Kind, normalizer: o.Normalizer, hash: xxhash.New()}
}

// holds reports whether the shard has a record. Records with equal requests are in one shard, whatever the
// classification: the shard is the remainder, plus 1, that the XXH64 hash of the kind, a zero byte and the
// normalized input leaves when it is divided by the number of shards. The normalized input of a website is that
// of its site. An input that cannot be normalized is hashed as it was read. The rule must not change: it has the
// name splitName.
func (s *splitter) holds(record *reader.Record) bool {
	if s.shard.Count == 0 {
		return true
	}
	input := record.Input
	if record.Err == nil {
		if request, err := s.normalizer.Request(s.kind, input, ""); err == nil {
			input = s.normalizer.Site(request).Input
		}
	}
	s.hash.Reset()
	_, _ = s.hash.WriteString(string(s.kind)) // never fails
	_, _ = s.hash.Write([]byte{0})
	_, _ = s.hash.WriteString(input)
	return s.hash.Sum64()%uint64(s.shard.Count) == uint64(s.shard.Number-1)
}

// inShard gives the options with the shard's folder as the output.
func (o SessionOptions) inShard() SessionOptions {
	if _, ok := ShardOf(o.Output.Path); o.Shard != (Shard{}) && !ok && o.Output.Path != "" {
		o.Output.Path = writer.Join(o.Output.Path, o.Shard.Folder()) + "/"
	}
	return o
}

// folderOfShards is the folder of all shards, of options in a shard.
func (o *SessionOptions) folderOfShards() string {
	folder, _ := writer.Split(writer.Clean(o.Output.Path))
	return folder
}
