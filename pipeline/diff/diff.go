package diff

import (
	"context"
	"math"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/selection"
	"github.com/bulkcat/bulkcat/pipeline/internal/spill"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

// Options say what to compare.
type Options struct {
	Old, New Side
	Level    int                // the level of the categories in moves, from 1; 0 for 1
	Temp     string             // the folder of temporary files; "" for the system's
	Use      func(Change) error // called with each change: in the order of the new records, and then with Removed in the order of the old records; may be nil
}

// Side is one of the outputs.
type Side struct {
	Parts     []readback.Part
	Kind      client.Kind       // of the run; "" if unknown
	Requested account.Requested // of the run: inputs with one request are equal
}

// SideOf returns the files of an output, and the rule of its run for equal inputs, which the account beside the output has. The
// errors are those of readback.Find.
func SideOf(ctx context.Context, output string) (Side, error) {
	parts, a, err := readback.Find(ctx, output)
	if err != nil || a == nil {
		return Side{Parts: parts}, err
	}
	s := a.Settings
	return Side{parts, client.Kind(s.Kind), s.Requested}, nil
}

// Kind is the kind of a change.
type Kind string

// The kinds of changes. If several apply, the first one counts.
const (
	Added      Kind = "added"      // the key is new
	Removed    Kind = "removed"    // the key is no longer there
	Status     Kind = "status"     // the status differs: for example, an input that was rejected has an answer
	Category   Kind = "category"   // the category of the highest confidence differs
	Confidence Kind = "confidence" // the confidence differs, but not the category
)

// Kinds are all kinds, in the order of reports.
var Kinds = []Kind{Added, Removed, Status, Category, Confidence}

// Change is a difference between two versions.
type Change struct {
	Kind                  Kind
	Level                 int // for Category, the first level that differs, from 1; else 0
	Input, Classification string
	Old, New              *Version // nil for Added and Removed
}

// Version has the values of a key in a side.
type Version struct {
	Record     int64
	Status     writer.Status
	Value      string // the category of the highest confidence; "" for none
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
	Level     int            `json:"level"`             // of the categories in Moves
	Moves     []Move         `json:"moves"`
}

// Counts are counts of a side.
type Counts struct {
	Records    int64 `json:"records"`    // each record once for each classification
	Duplicates int64 `json:"duplicates"` // of Records: an earlier record has the same key
}

// Move is the number of keys with a category in the old output and a category in the new output. Both may be equal.
type Move struct {
	Classification string `json:"classification"`
	Old            string `json:"old"` // a category, NoCategory, Absent or Others
	New            string `json:"new"`
	Inputs         int64  `json:"inputs"`
}

// Values of Old and New in a Move that are no categories.
const (
	NoCategory = "(no category)"
	Absent     = "(absent)" // the output lacks the key
	Others     = "(others)" // further moves: see mostMoves
)

// mostMoves bounds the distinct moves in memory. Further moves count as one move from Others to Others.
const mostMoves = 1 << 20

// Changed returns the number of changes.
func (s Summary) Changed() (n int64) {
	for _, count := range s.Changes {
		n += count
	}
	return n
}

// Run compares two outputs.
func Run(ctx context.Context, o Options) (Summary, error) {
	o.Level = max(o.Level, 1)
	c := comparison{Options: o, moves: make(map[Move]int64), versions: spill.New(o.Temp), changes: spill.New(o.Temp)}
	defer c.versions.Close() // an error leaves only temporary files
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
	versions *spill.Spill   // of both sides, by their keys
	changes  *spill.Spill   // by their records
	last     int64          // the highest record of a side
	moves    map[Move]int64 // inputs, by the Move without its Inputs
}

// key returns the input of the key of an input: the input of its merged request, by the rule of the new run or, if the new run is
// unknown, of the old run. Inputs that cannot be asked, and all inputs if both runs are unknown, are only trimmed.
func (c *comparison) key(input string) string {
	side := c.New
	if side.Kind == "" {
		side = c.Old
	}
	request, err := selection.Normalizer(side.Requested).Request(side.Kind, input, "")
	if side.Kind == "" || err != nil {
		return strings.TrimSpace(input)
	}
	for _, merge := range selection.Merges(side.Requested, side.Kind) {
		request = merge(request)
	}
	return request.Input
}

// kindOf compares two versions. kind is "" if they are equal.
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

// firstDifference returns the first level that differs, from 1.
func firstDifference(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i + 1
		}
	}
	return min(len(a), len(b)) + 1
}
