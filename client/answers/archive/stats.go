package archive

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// Stats is what a store holds.
type Stats struct {
	Groups  []Group `json:"groups"`  // by source, kind and classification
	Damaged int64   `json:"damaged"` // answers, which are ignored
	Bytes   int64   `json:"bytes"`   // of the store's files
}

// Group is the answers of one source to one kind of request.
type Group struct {
	Source         string      `json:"source"`
	Kind           client.Kind `json:"kind"`
	Classification string      `json:"classification"`
	Answers        int64       `json:"answers"`
	Rejections     int64       `json:"rejections"`
	Oldest         time.Time   `json:"oldest"`
	Newest         time.Time   `json:"newest"`
}

// Count counts the answers of all sources, and passes each to visit, which may be nil. It reads the whole
// store; the error is visit's, or as Export's.
func Count(s *answers.Store, visit func(answers.Stored) error) (Stats, error) {
	type sort struct {
		source, classification string
		kind                   client.Kind
	}
	groups := make(map[sort]*Group)
	err := s.Scan(func(a answers.Stored) error {
		at := a.Outcome.Answer.AnsweredAt
		of := sort{a.Source, a.Request.Classification, a.Request.Kind}
		g := groups[of]
		if g == nil {
			g = &Group{Source: of.source, Kind: of.kind, Classification: of.classification, Oldest: at, Newest: at}
			groups[of] = g
		}
		if a.Outcome.Rejection != nil {
			g.Rejections++
		} else {
			g.Answers++
		}
		if at.Before(g.Oldest) {
			g.Oldest = at
		}
		if at.After(g.Newest) {
			g.Newest = at
		}
		if visit != nil {
			return visit(a)
		}
		return nil
	})
	stats := Stats{Groups: []Group{}, Damaged: s.Damaged()}
	for _, g := range groups {
		stats.Groups = append(stats.Groups, *g)
	}
	slices.SortFunc(stats.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Classification, b.Classification))
	})
	bytes, sizeErr := s.Size()
	stats.Bytes = bytes
	return stats, errors.Join(err, sizeErr)
}
