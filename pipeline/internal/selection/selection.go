// Package selection applies account.Requested: which records of a list a run asks for, a sample of all or those of its shard,
// and which of these are one request.
package selection

import (
	"cmp"
	"slices"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/account"
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
