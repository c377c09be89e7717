package answers

import (
	"context"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Stats is what a store holds.
type Stats struct {
	Groups  []Group `json:"groups"`  // in the order of their keys
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
	err := s.scan(func(source string, r client.Request, _ []byte, o Outcome, parseErr error) error {
		if parseErr != nil {
			s.damage.note(s.options, appendKey(nil, source, r))
			return nil
		}
		stats.add(source, r, o)
		return nil
	})
	if s.fate.err() != nil {
		return Stats{}, err // the scan was given up, and may still write
	}
	stats.Damaged = s.Damaged()
	bytes, sizeErr := s.size()
	if err == nil {
		err = sizeErr
	}
	stats.Bytes = bytes
	return stats, err
}

// add counts an answer; those of a group come one after the other.
func (t *Stats) add(source string, r client.Request, o Outcome) {
	at := o.Answer.AnsweredAt
	n := len(t.Groups) - 1
	if n < 0 || t.Groups[n].Source != source || t.Groups[n].Kind != r.Kind || t.Groups[n].Classification != r.Classification {
		t.Groups = append(t.Groups, Group{Source: source, Kind: r.Kind, Classification: r.Classification, Oldest: at, Newest: at})
		n++
	}
	g := &t.Groups[n]
	if o.Rejection != nil {
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
}

func (s *Store) size() (int64, error) {
	files := s.options.FS
	names, err := files.List(s.options.Dir)
	if err != nil {
		return 0, storeError(s.options.Dir, "", err)
	}
	var sum int64
	for _, name := range names {
		info, err := files.Stat(files.PathJoin(s.options.Dir, name))
		if err != nil {
			continue // removed since
		}
		if !info.IsDir() {
			sum += info.Size()
		}
	}
	return sum, nil
}

// Compact rewrites the store as small as it gets: what was written over is dropped.
func (s *Store) Compact(ctx context.Context) error {
	_, err := guard(s.fate, func() (struct{}, error) {
		return struct{}{}, s.db.Compact(ctx, []byte{0}, []byte{0xff}, true)
	})
	return storeError(s.options.Dir, "", err)
}
