package labelled

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/reader"
)

// Table is a table of answers that were paid for elsewhere, for answers.Store.Import. It has a row for each category of an input;
// the rows of an input are adjacent. All fields up to CategoryColumn are required.
type Table struct {
	Kind           client.Kind
	Classification string
	Source         string // the service that has given the answers: see client.HTTP.Source

	Input            reader.Options // of one file; Columns is required
	CategoryColumn   string
	ConfidenceColumn string // "" for none

	// The results of Scan.
	Answers int64     // inputs with categories
	Without int64     // rows without an input or a category, which are left out
	Invalid int64     // rows whose input cannot be asked
	Unknown int64     // rows whose category is not in the taxonomy
	Known   int64     // rows whose category is in the taxonomy
	Unread  int64     // rows whose confidence is no number, and is left out
	Apart   int64     // times that rows of an earlier input follow: the answer stays that of its first rows
	As      time.Time // the modification time of the file, which is the time of the answers
}

// Scan reads the table and calls visit for each answer, with the request for the input as it is spelled, and again with the
// request for its website if that is another request. The errors are those of openLabelled, of visit, and of reading the file.
func (t *Table) Scan(ctx context.Context, visit func(answers.Stored) error) error {
	columns := []optionColumn{{"CategoryColumn", t.CategoryColumn}}
	if t.ConfidenceColumn != "" {
		columns = append(columns, optionColumn{"ConfidenceColumn", t.ConfidenceColumn})
	}
	input, places, err := openLabelled(ctx, t.Input, columns...)
	if err != nil {
		return err
	}
	defer input.Close() // only read from
	if t.As, err = changedAt(t.Input.Paths); err != nil {
		return err
	}
	normalizer := normalize.Normalizer{}
	var index *taxonomy.Index
	if published := taxonomy.Published(t.Classification); published != nil {
		index = taxonomy.NewIndex(published)
	}
	var request client.Request
	var entries []tableEntry
	seen, seed := make(map[uint64]struct{}), maphash.MakeSeed()
	pass := func() error {
		if len(entries) == 0 {
			return nil
		}
		t.Answers++
		body, err := json.Marshal(map[string][]tableEntry{t.Classification: entries})
		if err != nil {
			return err
		}
		entries = nil
		o := answers.Outcome{Answer: client.Answer{Body: body, AnsweredAt: t.As}}
		for _, r := range slices.Compact([]client.Request{request, normalizer.Site(request)}) {
			if err := visit(answers.Stored{Source: t.Source, Request: r, Outcome: o}); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		row, err := input.Read()
		if err == io.EOF {
			return pass()
		}
		if err != nil {
			return err
		}
		category := strings.TrimSpace(labelOf(row, places[0]))
		if strings.TrimSpace(row.Input) == "" || category == "" {
			t.Without++
			continue
		}
		next, err := normalizer.Request(t.Kind, row.Input, t.Classification)
		if row.Err != nil || err != nil {
			t.Invalid++
			continue
		}
		if next != request {
			if err := pass(); err != nil {
				return err
			}
			request = next
			hash := maphash.Comparable(seed, request)
			if _, again := seen[hash]; again {
				t.Apart++
			} else if len(seen) < mostSeen {
				seen[hash] = struct{}{}
			}
		}
		entry := tableEntry{Value: category}
		if len(places) > 1 {
			text := strings.TrimSpace(labelOf(row, places[1]))
			confidence, err := strconv.ParseFloat(text, 64)
			if err == nil && !math.IsNaN(confidence) && !math.IsInf(confidence, 0) {
				entry.Confidence = &confidence
			} else if text != "" {
				t.Unread++
			}
		}
		entries = append(entries, entry)
		if index != nil {
			if _, known := index.Find(category); known {
				t.Known++
			} else {
				t.Unknown++
			}
		}
	}
}

// mostSeen bounds the inputs that Scan remembers to some 50 MB.
const mostSeen = 1 << 21

// tableEntry is an entry of an answer as services send it.
type tableEntry struct {
	Value      string   `json:"value"`
	Confidence *float64 `json:"confidence,omitempty"`
}

// changedAt returns the modification time of the only file.
func changedAt(paths []string) (time.Time, error) {
	if len(paths) != 1 {
		return time.Time{}, errors.New("name one file: the time of the answers is that of the file")
	}
	info, err := os.Stat(paths[0])
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: name a local file: the time of the answers is that of the file", paths[0])
	}
	return info.ModTime().UTC().Truncate(time.Microsecond), nil
}
