package answers

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Stats is what a store holds.
type Stats struct {
	Groups  []Group `json:"groups"`  // by source, kind and classification
	Damaged int64   `json:"damaged"` // values, which count as none
	Bytes   int64   `json:"bytes"`   // of its files
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

// Stats counts the answers of all sources. It reads all of the store; the error is as
// Export's.
func (s *Store) Stats() (Stats, error) {
	stats := Stats{Groups: []Group{}}
	last := -1
	err := s.scan(func(r live) error {
		last = stats.group(r, last)
		stats.Groups[last].add(r.outcome)
		return nil
	})
	slices.SortFunc(stats.Groups, compareGroups)
	stats.Damaged = s.Damaged()
	bytes, sizeErr := s.size()
	if err == nil {
		err = sizeErr
	}
	stats.Bytes = bytes
	return stats, err
}

// group gives the index of an answer's group, which is likely that of the one before it.
func (t *Stats) group(a live, last int) int {
	mine := func(g Group) bool {
		return g.Source == a.source && g.Kind == a.request.Kind && g.Classification == a.request.Classification
	}
	if last >= 0 && mine(t.Groups[last]) {
		return last
	}
	if i := slices.IndexFunc(t.Groups, mine); i >= 0 {
		return i
	}
	at := a.outcome.Answer.AnsweredAt
	t.Groups = append(t.Groups, Group{Source: a.source, Kind: a.request.Kind, Classification: a.request.Classification, Oldest: at, Newest: at})
	return len(t.Groups) - 1
}

func (g *Group) add(o Outcome) {
	if o.Rejection != nil {
		g.Rejections++
	} else {
		g.Answers++
	}
	at := o.Answer.AnsweredAt
	if at.Before(g.Oldest) {
		g.Oldest = at
	}
	if at.After(g.Newest) {
		g.Newest = at
	}
}

func compareGroups(a, b Group) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Classification, b.Classification))
}

// size is the number of bytes of the files in the store's folder and in the index.
func (s *Store) size() (sum int64, err error) {
	files := s.options.FS
	for _, dir := range [...]string{s.options.Dir, files.PathJoin(s.options.Dir, indexDir)} {
		names, err := files.List(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no index
		}
		if err != nil {
			return 0, storeError(s.options.Dir, err)
		}
		for _, name := range names {
			if info, err := files.Stat(files.PathJoin(dir, name)); err == nil && !info.IsDir() { // else removed since
				sum += info.Size()
			}
		}
	}
	return sum, nil
}
