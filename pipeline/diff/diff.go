package diff

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/spill"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

// Options say what to compare.
type Options struct {
	Old, New Side
	Level    int                // of the categories of the moves, from 1; 0 for 1
	Temp     string             // the folder of temporary files; "" for the system's
	Use      func(Change) error // called with each change, in the order of the new records, then of the removed ones; may be nil
}

// Side is one of the outputs.
type Side struct {
	Parts  []readback.Part
	Kind   client.Kind // of the run; "" if unknown
	Scheme string      // of bare domains in the run
	Dedupe string      // of account.Dedupes: what was one request is one input; "" for account.DedupeSite
}

// SideOf returns the files of an output, and the rule of its run for equal inputs from the account beside the output, if
// there is one. The errors are those of readback.Find.
func SideOf(ctx context.Context, output string) (Side, error) {
	parts, a, err := readback.Find(ctx, output)
	if err != nil || a == nil {
		return Side{Parts: parts}, err
	}
	s := a.Settings
	return Side{parts, client.Kind(s.Kind), s.Scheme, s.Dedupe}, nil
}

// Kind is the kind of a change.
type Kind string

// The kinds of changes. If several apply, the first one counts.
const (
	Added      Kind = "added"      // the key is new
	Removed    Kind = "removed"    // the key is no longer there
	Status     Kind = "status"     // for example, an input that was rejected has an answer
	Category   Kind = "category"   // the category of the highest confidence is another
	Confidence Kind = "confidence" // the confidence is another, and the category the same
)

// Kinds are all kinds, in the order of reports.
var Kinds = []Kind{Added, Removed, Status, Category, Confidence}

// Change is a difference between two versions.
type Change struct {
	Kind                  Kind
	Level                 int // the first level that differs, from 1, of Category; else 0
	Input, Classification string
	Old, New              *Version // nil for Added and Removed
}

// Version is what a side says about a key.
type Version struct {
	Record     int64
	Status     writer.Status
	Value      string // of the highest confidence; "" for none
	CategoryID string
	Confidence float64 // NaN is null
}

// Summary counts keys.
type Summary struct {
	Old       Counts         `json:"old"`
	New       Counts         `json:"new"`
	Unchanged int64          `json:"unchanged"`
	Changes   map[Kind]int64 `json:"changes"`
	Levels    []int64        `json:"category_by_level"` // changes of Category by Change.Level, level 1 first
	Level     int            `json:"level"`             // of the moves
	Moves     []Move         `json:"moves"`
}

// Counts are counts of a side.
type Counts struct {
	Records    int64 `json:"records"`    // each once for each classification
	Duplicates int64 `json:"duplicates"` // of these, records whose input an earlier record has
}

// Move is the number of keys with a category in the old output and a category in the new one. Both may be the same.
type Move struct {
	Classification string `json:"classification"`
	Old            string `json:"old"` // NoCategory or Absent, if so
	New            string `json:"new"`
	Inputs         int64  `json:"inputs"`
}

// The places of keys without a category in moves, and of those of further moves.
const (
	NoCategory = "(no category)"
	Absent     = "(absent)"
	Others     = "(others)"
)

// mostMoves bounds the distinct moves in memory. Further ones count as those of Others.
const mostMoves = 1 << 20

// Changed is the number of changes.
func (s Summary) Changed() (n int64) {
	for _, count := range s.Changes {
		n += count
	}
	return n
}

// Run compares two outputs.
func Run(ctx context.Context, o Options) (Summary, error) {
	o.Level = max(o.Level, 1)
	c := comparison{Options: o, moves: make(map[moveKey]int64), places: make(map[placeKey]string), versions: spill.New(o.Temp), changes: spill.New(o.Temp)}
	defer c.versions.Close() // both have temporary files only
	defer c.changes.Close()
	c.Summary.Changes, c.Summary.Level = make(map[Kind]int64), o.Level
	for _, kind := range Kinds {
		c.Summary.Changes[kind] = 0
	}
	err := c.read(ctx, o.Old, isOld)
	if err == nil {
		err = c.read(ctx, o.New, isNew)
	}
	if err == nil {
		err = c.compare(ctx)
	}
	if err == nil {
		err = c.use(ctx)
	}
	if err != nil {
		return Summary{}, err
	}
	c.Summary.Moves = c.sortedMoves()
	return c.Summary, nil
}

// comparison is the state of Run.
type comparison struct {
	Options
	Summary  Summary
	versions *spill.Spill // of both sides, by their keys
	changes  *spill.Spill // by their records
	last     int64        // the highest record of a side
	moves    map[moveKey]int64
	places   map[placeKey]string // of values, at Level
}

// key is the form in which inputs are compared: that of the request of the new run, or else of the old one, which all
// spellings share. Inputs that cannot be asked, and all inputs of runs of an unknown kind, are compared without the white
// space around.
func (c *comparison) key(input string) string {
	side := c.New
	if side.Kind == "" {
		side = c.Old
	}
	normalizer := normalize.Normalizer{Scheme: side.Scheme}
	request, err := normalizer.Request(side.Kind, input, "")
	switch {
	case side.Kind == "" || err != nil:
		return strings.TrimSpace(input)
	case side.Dedupe == account.DedupeExact:
		return request.Input
	}
	step := max(1, slices.Index(account.Dedupes(), side.Dedupe)) // "" is site
	return normalizer.Coarser()[step-1](request).Input
}

// kindOf compares two versions. Kind is "" if they are equal.
func kindOf(classification string, a, b *Version) (kind Kind, level int) {
	switch {
	case a == nil:
		return Added, 0
	case b == nil:
		return Removed, 0
	case a.Status != b.Status:
		return Status, 0
	case a.Value != b.Value:
		return Category, firstDifference(readback.Levels(classification, a.Value), readback.Levels(classification, b.Value))
	case a.Confidence != b.Confidence && !(math.IsNaN(a.Confidence) && math.IsNaN(b.Confidence)):
		return Confidence, 0
	}
	return "", 0
}

// firstDifference is the first level that differs, from 1.
func firstDifference(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i + 1
		}
	}
	return min(len(a), len(b)) + 1
}
