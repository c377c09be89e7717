package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/flow"
)

// lookedUpElsewhere is how many records are looked up in other stores: enough to see that these have answers, in a moment.
const lookedUpElsewhere = 10_000

// warnElsewhere warns if one of Store.Others has answers that the run would pay for. It looks at the first records.
func (s *Session) warnElsewhere(ctx context.Context, store *answers.Store, options flow.Options) error {
	o := &s.options
	stored, err := o.stored()
	_, bytes := s.input.Load().Progress()
	if err != nil || !o.Service.Hosted || o.isShard() || bytes < 0 {
		return nil // to open the store gives the error; and a pipe can be read once
	}
	others := slices.DeleteFunc(slices.Clone(o.Store.Others), func(other string) bool { return other == stored.Path })
	if len(others) == 0 {
		return nil
	}
	if options.Sample == 0 && (options.Limit == 0 || options.Limit > lookedUpElsewhere) {
		options.Limit = lookedUpElsewhere
	}
	missing := make(map[client.Request]bool)
	_, err = s.forecastAgain(ctx, store, options, func(made []answers.Query) error {
		for _, q := range made {
			if !q.Found {
				missing[q.Request] = true
			}
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		return causeOf(ctx, err)
	}
	best, has := "", 0
	for _, path := range others {
		stored.Path = path
		if n := countStored(stored, missing); n > has {
			best, has = path, n
		}
	}
	if has > 0 {
		o.Log.Warn("another store has answers that are to be paid for: name it, or import it with 'bulkcat store import'",
			"option", "pipeline.Store.Path", "store", best, "has", fmt.Sprintf("%d of the first %d", has, len(missing)))
	}
	return nil
}

// countStored is the number of requests with a stored outcome; 0 for a store that cannot be read.
func countStored(o answers.Options, requests map[client.Request]bool) (n int) {
	o.ReadOnly, o.Log = true, nil
	store, err := answers.Open(o)
	if err != nil {
		return 0
	}
	defer store.Close() // only read from
	queries := make([]answers.Query, 0, len(requests))
	for r := range requests {
		queries = append(queries, answers.Query{Request: r})
	}
	if err := store.LookupAll(queries); err != nil {
		return 0
	}
	for _, q := range queries {
		if q.Found {
			n++
		}
	}
	return n
}
