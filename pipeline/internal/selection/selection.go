// Package selection applies account.Requested: which records of a list a run asks for, a sample of all or those of its shard,
// and which of these are one request.
package selection

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
)

// Normalizer makes the requests of a run.
func Normalizer(r account.Requested) normalize.Normalizer {
	return normalize.Normalizer{Scheme: r.Scheme, AskPlaceholders: r.AskPlaceholders}
}

// Merges gives the steps that make one request of several: see account.Dedupes.
func Merges(r account.Requested, kind client.Kind) []func(client.Request) client.Request {
	dedupe := r.Dedupe
	if kind == client.Website {
		dedupe = cmp.Or(dedupe, account.DedupeSite)
	}
	return Normalizer(r).Coarser()[:max(0, slices.Index(account.Dedupes(), dedupe))]
}

// Splitter says which records a shard has.
type Splitter struct {
	shard      account.Shard
	kind       client.Kind
	request    func(client.Request) client.Request // that records of one shard have in common
	normalizer normalize.Normalizer
	hash       *xxhash.Digest
}

// NewSplitter makes the splitter of a run with such requests.
func NewSplitter(shard account.Shard, kind client.Kind, r account.Requested) *Splitter {
	normalizer := Normalizer(r)
	return &Splitter{shard: shard, kind: kind, request: normalizer.Coarser()[max(len(Merges(r, kind)), 1)-1], normalizer: normalizer, hash: xxhash.New()}
}

// Holds reports whether the shard has a record. Records with equal requests are in one shard, whatever the
// classification: the shard is the remainder, plus 1, that the XXH64 hash of the kind, a zero byte and the
// normalized input leaves when it is divided by the number of shards. The normalized input of a website is that
// of its site, or of its host or domain if these are one request. An input that cannot be normalized is hashed as it was read. The rule must not change: it has the
// name account.SplitRule.
func (s *Splitter) Holds(record *reader.Record) bool {
	if s.shard.Count == 0 {
		return true
	}
	input := record.Input
	if record.Err == nil {
		if request, err := s.normalizer.Request(s.kind, input, ""); err == nil {
			input = s.request(request).Input
		}
	}
	s.hash.Reset()
	_, _ = s.hash.WriteString(string(s.kind)) // never fails
	_, _ = s.hash.Write([]byte{0})
	_, _ = s.hash.WriteString(input)
	return s.hash.Sum64()%uint64(s.shard.Count) == uint64(s.shard.Number-1)
}
