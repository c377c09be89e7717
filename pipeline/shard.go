package pipeline

import (
	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// splitter says which records a shard has.
type splitter struct {
	shard      record.Shard
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
// name record.SplitRule.
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
	if _, ok := record.ShardOf(o.Output.Path); o.Shard != (record.Shard{}) && !ok && o.Output.Path != "" {
		o.Output.Path = writer.Join(o.Output.Path, o.Shard.Folder()) + "/"
	}
	return o
}

// folderOfShards is the folder of all shards, of options in a shard.
func (o *SessionOptions) folderOfShards() string {
	folder, _ := writer.Split(writer.Clean(o.Output.Path))
	return folder
}
