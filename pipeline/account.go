package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/writer"
)

// Account is what a run says of itself, beside its output: what went in, what was asked
// and what came out. It holds no secret.
type Account struct {
	Format   int       `json:"format"` // of this file; 1
	Bulkcat  string    `json:"bulkcat"`
	Settings Settings  `json:"settings"`
	Service  string    `json:"service"`
	Store    string    `json:"store,omitempty"` // the folder of the stored answers; "" where there is none
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	Ending   Ending    `json:"ending"`
	Error    string    `json:"error,omitempty"`
	Counts   Snapshot  `json:"counts"`
	Rates    Rates     `json:"rates"`
	Inputs   []Input   `json:"inputs"`
	Changed  []string  `json:"changed_inputs,omitempty"` // that do not begin with what the last run has read of them
	Outputs  []Output  `json:"outputs"`

	Earlier []EarlierRun `json:"earlier,omitempty"` // of the same run, the first one first

	Overlapped bool `json:"overlapped,omitempty"` // another run may have asked the same meanwhile, with a store of its own

	Checksum string `json:"checksum"` // of all else
}

// Rates are what a run did a second, over its whole time.
type Rates struct {
	Records  float64 `json:"records_per_second"`
	Requests float64 `json:"requests_per_second"`
}

// EarlierRun is what is kept of the account of a run that was started again.
type EarlierRun struct {
	Bulkcat string    `json:"bulkcat"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Ending  Ending    `json:"ending"`
	Error   string    `json:"error,omitempty"`
	Counts  Snapshot  `json:"counts"`
}

// Ending is how a run ended.
type Ending string

// The endings that are no Cause of a stop.
const (
	Complete Ending = "complete"
	Failed   Ending = "failed"
)

// Settings are what shapes a run's rows. Two runs with equal settings over the same
// input are the same run.
type Settings struct {
	Kind           string   `json:"kind"`
	Classification string   `json:"classification"`        // several with a comma between
	Inputs         []string `json:"inputs"`                // as named on the command line
	InputPaths     []string `json:"input_paths,omitempty"` // the same as SeenFrom the output
	Column         string   `json:"column,omitempty"`
	Scheme         string   `json:"scheme,omitempty"`
	Dedupe         string   `json:"dedupe,omitempty"` // DedupeExact; empty for DedupeSite, and in accounts from before the choice, whose outputs it may continue
	Output         string   `json:"output"`
	OutputFormat   string   `json:"output_format"`
	Levels         int      `json:"levels"`
	Carry          string   `json:"carry"`
	SourceColumns  bool     `json:"source_columns,omitempty"`
	Shape          string   `json:"shape,omitempty"` // empty for writer.ShapeLong, and in accounts from before the choice
	Top            int      `json:"top,omitempty"`   // 0 for all categories
	MinConfidence  float64  `json:"min_confidence,omitempty"`
	PartRows       int64    `json:"part_rows,omitempty"`
	Limit          int64    `json:"limit,omitempty"`
}

// What makes the records of websites one request.
const (
	DedupeExact = "exact" // the normalized input
	DedupeSite  = "site"  // the website that it spells: see client.Normalizer.Site
)

// Classifications are those that each record is asked for.
func (s Settings) Classifications() []string { return strings.Split(s.Classification, ",") }

// Input is a file that was read.
type Input struct {
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"`   // the same as SeenFrom the output
	Bytes  int64  `json:"bytes"`            // read, from the beginning
	SHA256 string `json:"sha256,omitempty"` // of those bytes
	Whole  bool   `json:"whole"`            // read to its end
}

// Output is a file that was published.
type Output struct {
	Name        string `json:"name"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	Rows        int64  `json:"rows"`
	FirstRecord int64  `json:"first_record"`
	LastRecord  int64  `json:"last_record"`
}

const accountFormat = 1

// NewAccount opens the account of a run that starts now.
func NewAccount(bulkcat, service string, settings Settings) *Account {
	return &Account{
		Format: accountFormat, Bulkcat: bulkcat, Service: service, Settings: settings,
		Started: time.Now().UTC(), Inputs: []Input{}, Outputs: []Output{},
	}
}

// Finish closes the account with what Run returned.
func (a *Account) Finish(err error, counts Snapshot, published writer.Published) {
	a.Ended, a.Counts = time.Now().UTC(), counts
	if seconds := a.Ended.Sub(a.Started).Seconds(); seconds > 0 {
		a.Rates = Rates{perSecond(counts.SettledNow(), seconds), perSecond(counts.Requests, seconds)}
	}
	var stop *StopError
	switch {
	case err == nil:
		a.Ending = Complete
	case errors.As(err, &stop):
		a.Ending = Ending(stop.Cause)
	default:
		a.Ending = Failed
	}
	if err != nil {
		a.Error = err.Error()
	}
	for _, f := range published.Files {
		a.Outputs = append(a.Outputs, outputOf(f))
	}
}

// perSecond is rounded: what comes after the tenth changes from run to run.
func perSecond(n int64, seconds float64) float64 { return math.Round(float64(n)/seconds*10) / 10 }

func outputOf(f writer.File) Output {
	return Output{
		Name: f.Path, Bytes: f.Bytes, SHA256: f.SHA256,
		Rows: f.Rows, FirstRecord: f.FirstRecord, LastRecord: f.LastRecord,
	}
}

// Follow enters the runs before this one that were of the same run, started again and
// again: what all of them asked is the sum. It says whether last is one of them.
func (a *Account) Follow(last *Account) bool {
	if last == nil || !last.SameRun(a) {
		return false
	}
	a.Earlier = append(last.Earlier, EarlierRun{
		Bulkcat: last.Bulkcat, Started: last.Started, Ended: last.Ended,
		Ending: last.Ending, Error: last.Error, Counts: last.Counts,
	})
	return true
}

// Records is how many records the output has rows of, by the last of these runs that was
// complete; 0 if none was.
func (a *Account) Records() int64 {
	if a.Ending == Complete {
		return a.Counts.Written
	}
	for _, run := range slices.Backward(a.Earlier) {
		if run.Ending == Complete {
			return run.Counts.Written
		}
	}
	return 0
}

// Write publishes the account.
func (a *Account) Write(path string) error {
	a.Checksum = a.seal()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(a); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writer.PublishFile(path, text.Bytes())
}

// ReadAccount reads an account back; nil and no error where there is none.
func ReadAccount(path string) (*Account, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the account of the last run: %w", err)
	}
	var a Account
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("read the account of the last run: %s: %w", path, err)
	}
	if a.Checksum != a.seal() {
		return nil, fmt.Errorf("read the account of the last run: %s: %w", path, errSeal)
	}
	return &a, nil
}

func (a *Account) seal() string {
	unsealed := *a
	unsealed.Checksum = ""
	return seal(unsealed)
}
