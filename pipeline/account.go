package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/backup"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// Account is the report of a run: its inputs, counts and outputs. The file of an account is beside the output,
// and contains no secrets.
type Account struct {
	Format   int       `json:"format"` // of this file; 1
	Bulkcat  string    `json:"bulkcat"`
	Settings Settings  `json:"settings"`
	Service  string    `json:"service"`
	Store    string    `json:"store,omitempty"` // the folder of the stored answers; "" if there is none
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	Ending   Ending    `json:"ending"`
	Error    string    `json:"error,omitempty"`
	Counts   Snapshot  `json:"counts"`
	Rates    Rates     `json:"rates"`
	Inputs   []Input   `json:"inputs"`
	Changed  []string  `json:"changed_inputs,omitempty"` // whose beginning is not what the last run has read
	Outputs  []Output  `json:"outputs"`
	Carried  []Carried `json:"carried_columns,omitempty"`

	Backup *backup.State `json:"store_backup,omitempty"` // the copy of the store; nil if there is none

	Earlier []EarlierRun `json:"earlier,omitempty"` // earlier starts of the same run, the first start first

	Overlapped bool `json:"overlapped,omitempty"` // another run, with another store, may have asked the same requests meanwhile

	Checksum string `json:"checksum"` // SHA-256 of the other members, in hex
}

// Rates are averages over the whole time of a run.
type Rates struct {
	Records  float64 `json:"records_per_second"`
	Requests float64 `json:"requests_per_second"`
}

// EarlierRun is the part of an account that is kept when the run is started again. The counts of a killed
// process are those that its journal has: requests, retries, repeated requests and outcomes.
type EarlierRun struct {
	Bulkcat string    `json:"bulkcat"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Ending  Ending    `json:"ending"`
	Error   string    `json:"error,omitempty"`
	Counts  Snapshot  `json:"counts"`
}

// Ending says how a run ended: Complete, Failed, or the Cause of a stop.
type Ending string

// The endings of runs that were not stopped.
const (
	Complete Ending = "complete"
	Failed   Ending = "failed"
	Killed   Ending = "killed" // only of earlier runs: the process ended without an account
)

// Settings decide the rows of a run. Two runs with equal settings, service and input are the same run.
type Settings struct {
	Kind            string      `json:"kind"`
	Classification  string      `json:"classification"`        // names with a comma between
	Inputs          []string    `json:"inputs"`                // as named on the command line
	InputPaths      []string    `json:"input_paths,omitempty"` // relative to the folder of the output
	Columns         ColumnNames `json:"column,omitempty"`
	Join            string      `json:"join,omitempty"` // between the values of several columns
	Scheme          string      `json:"scheme,omitempty"`
	AskPlaceholders bool        `json:"ask_placeholders,omitempty"`
	Dedupe          string      `json:"dedupe,omitempty"` // DedupeExact; empty for DedupeSite, as in accounts of versions without the setting
	Output          string      `json:"output"`
	OutputFormat    string      `json:"output_format"`
	Levels          int         `json:"levels"`
	Carry           string      `json:"carry"`
	SourceColumns   bool        `json:"source_columns,omitempty"`
	Shape           string      `json:"shape,omitempty"` // empty for writer.ShapeLong, and in accounts from before the choice
	Top             int         `json:"top,omitempty"`   // 0 for all categories
	MinConfidence   float64     `json:"min_confidence,omitempty"`
	EscapeFormulas  bool        `json:"escape_formulas,omitempty"` // of CSV and TSV
	PartRows        int64       `json:"part_rows,omitempty"`
	Limit           int64       `json:"limit,omitempty"`
	Shard           string      `json:"shard,omitempty"` // such as "3/16"; "" for the whole input
}

// The values of SessionOptions.Dedupe.
const (
	DedupeExact = "exact" // equal normalized inputs are one request
	DedupeSite  = "site"  // all spellings of a website are one request: see client.Normalizer.Site
)

// Normalizer makes the requests of the run.
func (s Settings) Normalizer() client.Normalizer {
	return client.Normalizer{Scheme: s.Scheme, AskPlaceholders: s.AskPlaceholders}
}

// ColumnNames are the names of the input columns. In JSON a single name is a text, as in accounts from before there were
// several.
type ColumnNames []string

func (c ColumnNames) String() string { return strings.Join(c, ", ") }

// MarshalJSON writes a text or an array.
func (c ColumnNames) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]string(c))
}

// UnmarshalJSON reads a text or an array.
func (c *ColumnNames) UnmarshalJSON(text []byte) error {
	var name string
	if string(text) != "null" && json.Unmarshal(text, &name) == nil {
		*c = ColumnNames{name}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(c))
}

// NamedColumns are the carried columns that are named one by one; nil for all or none.
func (s Settings) NamedColumns() []string { return namedColumns(s.Carry) }

// Classifications are the classifications that each record is asked for.
func (s Settings) Classifications() []string { return strings.Split(s.Classification, ",") }

// Input is a file that was read.
type Input struct {
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"`   // relative to the folder of the output
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

// newAccount makes the account of a run that starts now.
func newAccount(bulkcat, service string, settings Settings) *Account {
	return &Account{
		Format: accountFormat, Bulkcat: bulkcat, Service: service, Settings: settings,
		Started: time.Now().UTC(), Inputs: []Input{}, Outputs: []Output{},
	}
}

// EndingOf returns the ending of a run with this error; nil is Complete.
func EndingOf(err error) Ending {
	if err == nil {
		return Complete
	}
	if stop, stopped := errors.AsType[*StopError](err); stopped {
		return Ending(stop.Cause)
	}
	return Failed
}

// finish completes the account with the results of Run.
func (a *Account) finish(err error, counts Snapshot, published writer.Published) {
	a.Ended, a.Counts = time.Now().UTC(), counts
	if seconds := a.Ended.Sub(a.Started).Seconds(); seconds > 0 {
		a.Rates = Rates{perSecond(counts.SettledNow(), seconds), perSecond(counts.Requests, seconds)}
	}
	a.Ending = EndingOf(err)
	if err != nil {
		a.Error = err.Error()
	}
	for _, f := range published.Files {
		a.Outputs = append(a.Outputs, outputOf(f))
	}
}

// perSecond is rounded to tenths: finer digits change from run to run.
func perSecond(n int64, seconds float64) float64 { return math.Round(float64(n)/seconds*10) / 10 }

func outputOf(f writer.File) Output {
	return Output{
		Name: f.Path, Bytes: f.Bytes, SHA256: f.SHA256,
		Rows: f.Rows, FirstRecord: f.FirstRecord, LastRecord: f.LastRecord,
	}
}

// follow adds the earlier starts of the same run, whose requests add up. It says whether last was the
// same run.
func (a *Account) follow(last *Account) bool {
	if last == nil || !last.sameRun(a) {
		return false
	}
	a.Earlier = append(last.Earlier, EarlierRun{
		Bulkcat: last.Bulkcat, Started: last.Started, Ended: last.Ended,
		Ending: last.Ending, Error: last.Error, Counts: last.Counts,
	})
	return true
}

// addStarts adds the starts that left no account: see journal.
func (a *Account) addStarts(starts []EarlierRun) {
	for _, start := range starts {
		if !slices.ContainsFunc(a.Earlier, func(e EarlierRun) bool { return e.Started.Equal(start.Started) }) {
			a.Earlier = append(a.Earlier, start)
		}
	}
	slices.SortStableFunc(a.Earlier, func(a, b EarlierRun) int { return a.Started.Compare(b.Started) })
}

// records is the number of records with rows in the output, according to the last start that was complete;
// 0 if none was.
func (a *Account) records() int64 {
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

// write writes the account to path, in place of an earlier account. The error is a *writer.Error.
func (a *Account) write(ctx context.Context, path string) error {
	a.Checksum = a.seal()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(a); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return storage.Publish(ctx, path, text.Bytes())
}

// ReadAccount reads an account. It gives nil and no error if there is no file, and an error if the file
// cannot be read or is damaged.
func ReadAccount(ctx context.Context, path string) (*Account, error) {
	text, err := storage.ReadFile(ctx, path)
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
