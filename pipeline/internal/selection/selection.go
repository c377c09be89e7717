// Package selection applies account.Requested: it selects the records that a run asks for, which are a sample or a shard of the
// list, and says which records are one request.
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

// Normalizer returns the normalizer of the requests of a run.
func Normalizer(r account.Requested) normalize.Normalizer {
	return normalize.Normalizer{Scheme: r.Scheme, AskPlaceholders: r.AskPlaceholders}
}

// Merges returns the steps that merge requests: see account.Dedupes.
func Merges(r account.Requested, kind client.Kind) []func(client.Request) client.Request {
	dedupe := r.Dedupe
	if kind == client.Website {
		dedupe = cmp.Or(dedupe, account.DedupeSite)
	}
	return Normalizer(r).Coarser()[:max(0, slices.Index(account.Dedupes(), dedupe))]
}

// Splitter decides which records belong to a shard.
type Splitter struct {
	shard      account.Shard
	kind       client.Kind
	request    func(client.Request) client.Request // returns the request by whose input records are split
	normalizer normalize.Normalizer
	hash       *xxhash.Digest
}

// NewSplitter returns the splitter of a run.
func NewSplitter(shard account.Shard, kind client.Kind, r account.Requested) *Splitter {
	normalizer := Normalizer(r)
	return &Splitter{shard: shard, kind: kind, request: normalizer.Coarser()[max(len(Merges(r, kind)), 1)-1], normalizer: normalizer, hash: xxhash.New()}
}

// Holds reports whether a record belongs to the shard. Records with equal requests are in one shard, whatever the
// classification. The number of the shard is the XXH64 hash of the kind, a zero byte and the normalized input, modulo the
// number of shards, plus 1. The normalized input of a website is its site, or its host or domain if Dedupe merges these. An
// input that cannot be normalized is hashed as it was read. This rule has the name account.SplitRule, and must not change.
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
