package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
)

// Report describes an output and the run that has written it.
type Report struct {
	Output  string   `json:"output"`
	Run     *Run     `json:"run"`             // the run that has written the rows, or the last run if there are no rows; nil if the account is missing
	Later   *Start   `json:"later,omitempty"` // the last start, if it has left the rows unchanged
	Summary *Summary `json:"summary"`         // nil if there are no rows

	Timeline []account.Span `json:"timeline,omitempty"`
}

// Run has the content of the account.
type Run struct {
	Bulkcat  string           `json:"bulkcat"`
	Service  string           `json:"service"`
	Settings account.Settings `json:"settings"`
	Started  time.Time        `json:"started"` // of the first start
	Ended    time.Time        `json:"ended"`
	Ending   account.Ending   `json:"ending"`
	Error    string           `json:"error,omitempty"`
	Starts   []Start          `json:"starts"` // the first start first
	Cost     Cost             `json:"cost"`   // of all starts
	Counts   account.Snapshot `json:"counts"` // of the last start
	Free     *account.Audit   `json:"free,omitempty"`
	Files    []account.Output `json:"files"`
	Inputs   []account.Input  `json:"inputs"`
	Models   []account.Model  `json:"models,omitempty"`

	Expectations []account.Expected `json:"expectations,omitempty"`
}

// Start is one start of a run.
type Start struct {
	Started  time.Time      `json:"started"`
	Ended    time.Time      `json:"ended"`
	Ending   account.Ending `json:"ending"`
	Requests int64          `json:"requests"`
	Error    string         `json:"error,omitempty"`
	Pending  int64          `json:"pending,omitempty"` // pending records of a partial output
}

// Cost counts the attempts of a run, and the requests that the run has saved.
type Cost struct {
	Made     int64            `json:"made"`     // attempts of all starts
	Retries  int64            `json:"retries"`  // of Made
	Rechecks int64            `json:"rechecks"` // of Made: repeated requests, which check the service
	Outcomes account.Attempts `json:"outcomes"` // of the attempts
	Saved    int64            `json:"saved"`    // by equal inputs, answers that other runs have stored, and answers of a model
	Money    *money.Cost      `json:"money"`    // nil without a price
	Kept     int64            `json:"kept"`     // records of the last start in parts that an earlier start had published
}

// Build reads the account, the journal and the rows of an output. The account and the journal may be missing. The rows may be
// missing if there is an account.
func Build(ctx context.Context, output string) (Report, error) {
	output = runfiles.ToRead(output)
	r, last, err := ofRun(ctx, output)
	if err != nil {
		return Report{}, err
	}
	rows := last.OfRows()
	parts, err := readback.FindOf(ctx, output, rows)
	if errors.Is(err, fs.ErrNotExist) && r.Run != nil {
		return r, nil
	}
	if err != nil {
		return Report{}, err
	}
	if rows != last {
		r.Later = &r.Run.Starts[len(r.Run.Starts)-1]
		r.Run, r.Timeline = runOf(rows), rows.Timeline
	}
	summary, err := Summarize(ctx, parts)
	r.Summary = &summary
	return r, err
}

// OfRun reads the journal of an output, and the account of its last start, but not its rows.
func OfRun(ctx context.Context, output string) (Report, error) {
	r, _, err := ofRun(ctx, output)
	return r, err
}

// ofRun is OfRun, and also returns the account; nil for none.
func ofRun(ctx context.Context, output string) (Report, *account.Account, error) {
	last, err := runfiles.ReadLast(ctx, runfiles.AccountPath(output))
	if err != nil {
		return Report{}, nil, err
	}
	r := Report{Output: output}
	if last != nil {
		r.Run = runOf(last)
	}
	r.Timeline, err = runfiles.Timeline(runfiles.JournalPath(output), last)
	return r, last, err
}

func runOf(a *account.Account) *Run {
	r := &Run{
		Bulkcat: a.Bulkcat, Service: a.Service, Settings: a.Settings, Started: a.Started, Ended: a.Ended, Ending: a.Ending, Error: a.Error,
		Counts: a.Counts, Free: a.Free, Files: a.Outputs, Inputs: a.Inputs, Models: a.Models, Expectations: a.Expectations,
		Cost: Cost{Outcomes: account.Attempts{}, Saved: a.Saved, Kept: a.Counts.Kept, Money: a.Cost},
	}
	add := func(started, ended time.Time, ending account.Ending, err string, c account.Snapshot) {
		start := Start{started, ended, ending, c.Requests, err, 0}
		if ending == account.Complete {
			start.Pending = c.Pending
		}
		r.Starts = append(r.Starts, start)
		r.Cost.Made += c.Requests
		r.Cost.Retries += c.Retries
		r.Cost.Rechecks += c.Rechecks
		r.Cost.Outcomes.Add(c.Attempts)
	}
	for _, e := range a.Earlier {
		add(e.Started, e.Ended, e.Ending, e.Error, e.Counts)
	}
	add(a.Started, a.Ended, a.Ending, a.Error, a.Counts)
	r.Started = r.Starts[0].Started
	return r
}

// Marks of reports, by which IsReport recognizes them: a report replaces no other file.
const (
	markdownBegin = "# Report on "
	htmlMark      = `<meta name="generator" content="bulkcat report">`
)

// htmlHead is the number of bytes at the beginning of a page that contain htmlMark.
const htmlHead = 4 << 10

// IsReport reports whether a text is a report, in any format.
func IsReport(text []byte) bool {
	if bytes.HasPrefix(text, []byte(markdownBegin)) || bytes.Contains(text[:min(len(text), htmlHead)], []byte(htmlMark)) {
		return true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	for _, name := range []string{"output", "run", "summary"} { // members of Report; no account or status has all three
		if _, ok := members[name]; !ok {
			return false
		}
	}
	return true
}
