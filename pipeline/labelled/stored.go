package labelled

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/reader"
)

// StoredAnswers says which answers of a store are labels: the answers of a hosted service to requests of a kind, in a
// classification. Path, Kind and Classification are required.
type StoredAnswers struct {
	Path           string
	Source         string // the service; "" for the only hosted service that has answers in the store
	Kind           client.Kind
	Classification string
	Most           int64 // maximum number of labels, which are those whose inputs have the lowest hashes; 0 for DefaultLabels
}

// DefaultLabels is the default of StoredAnswers.Most. Learning from so many labels takes about a minute and 500 MB.
const DefaultLabels = 100_000

// StoredLabels are inputs of a store, each with the best category of its answer as the label. Their order does not depend on
// the order of the store.
type StoredLabels struct {
	Source  string // the service that has given the answers
	Found   int64  // answers with a category
	Without int64  // rejections, and answers without a category

	path string
	list []storedLabel
	next int
}

type storedLabel struct {
	hash  [sha256.Size]byte
	input string
	label string
}

// ReadLabels reads the labels of a store. The error is a *pipeline.OptionError if the store has no such answers, or if Source is
// "" and the store has answers of several services. Other errors are those of answers.Open and answers.Store.Scan.
func ReadLabels(o StoredAnswers) (labels *StoredLabels, err error) {
	if o.Most == 0 {
		o.Most = DefaultLabels
	}
	store, err := answers.Open(answers.Options{Path: o.Path, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	bySource := make(map[string]*StoredLabels) // without the embedded service: a model learns nothing new from its answers
	values := make(map[string]string)          // equal labels share memory
	others := make(map[string]bool)
	err = store.Scan(func(a answers.Stored) error {
		switch {
		case account.IsEmbedded(a.Source) || o.Source != "" && a.Source != o.Source || a.Request.Kind != o.Kind || a.Request.Classification != o.Classification:
			others[fmt.Sprintf("%s (%ss in %s)", a.Source, a.Request.Kind, a.Request.Classification)] = true
			return nil
		case bySource[a.Source] == nil:
			bySource[a.Source] = &StoredLabels{Source: a.Source, path: o.Path}
		}
		s := bySource[a.Source]
		if a.Outcome.Rejection != nil || len(a.Outcome.Answer.Entries) == 0 {
			s.Without++
			return nil
		}
		value := a.Outcome.Answer.Best().Value
		if _, ok := values[value]; !ok {
			values[strings.Clone(value)] = strings.Clone(value)
		}
		s.add(a.Request.Input, values[value], o.Most)
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch names := slices.Sorted(maps.Keys(bySource)); len(names) {
	case 0:
		err := fmt.Errorf("the store %s has no answers of a hosted service to %ss in %s", o.Path, o.Kind, o.Classification)
		if len(others) > 0 {
			err = fmt.Errorf("%w; it has those of %s", err, strings.Join(slices.Sorted(maps.Keys(others)), ", "))
		}
		return nil, &output.OptionError{Option: "Stored", Err: err}
	case 1:
		labels = bySource[names[0]]
		labels.keep(o.Most)
		return labels, nil
	default:
		return nil, &output.OptionError{Option: "Stored.Source", Err: fmt.Errorf("the store %s has answers of several services: choose one of %s", o.Path, strings.Join(names, ", "))}
	}
}

func (s *StoredLabels) add(input, label string, most int64) {
	s.Found++
	s.list = append(s.list, storedLabel{sha256.Sum256([]byte(input)), strings.Clone(input), label})
	if int64(len(s.list)) >= 2*most {
		s.keep(most)
	}
}

// keep sorts the labels by the hashes of their inputs, and keeps the first most labels.
func (s *StoredLabels) keep(most int64) {
	slices.SortFunc(s.list, func(a, b storedLabel) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.input, b.input))
	})
	kept := min(int64(len(s.list)), most)
	clear(s.list[kept:])
	s.list = s.list[:kept]
}

// Len is the number of labels that are used.
func (s *StoredLabels) Len() int { return len(s.list) }

// Edition returns the published edition of a classification that has the most labels; of several such editions, the first. It
// returns false if the classification has no published taxonomy.
func (s *StoredLabels) Edition(classification string) (best taxonomy.Edition, ok bool) {
	most := -1
	for _, e := range taxonomy.Editions() {
		if e.Name != classification {
			continue
		}
		known := make(map[string]bool)
		for _, c := range e.Load().Categories {
			known[c.Path] = true
		}
		fitting := 0
		for _, l := range s.list {
			if known[l.label] {
				fitting++
			}
		}
		if fitting > most {
			best, most, ok = e, fitting, true
		}
	}
	return best, ok
}

// Read returns the labels as records with one field.
func (s *StoredLabels) Read() (reader.Record, error) {
	if s.next == len(s.list) {
		return reader.Record{}, io.EOF
	}
	l := s.list[s.next]
	s.next++
	return reader.Record{Number: int64(s.next), File: s.path, Input: l.input, Fields: []string{l.label}}, nil
}
