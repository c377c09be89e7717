package expect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/report"
	"github.com/bulkcat/bulkcat/writer"
)

// figures are what expectations are compared with.
type figures struct {
	summary             report.Summary
	records, categories int64
	confidence          float64 // the mean
	confident           int64   // records with a confidence
	compared            *diff.Summary
}

// Check reads an output, and the earlier output that it is compared with. Without an earlier output the expectations that
// compare are met. temp is the folder of temporary files; "" for the system's. The errors are those of reading.
func Check(ctx context.Context, list []Expectation, output diff.Side, earlier *diff.Side, temp string) ([]record.Expected, error) {
	f := figures{}
	var err error
	if f.summary, err = report.Summarize(ctx, output.Parts); err != nil {
		return nil, err
	}
	f.add()
	if earlier != nil && slices.ContainsFunc(list, Expectation.Compares) {
		compared, err := diff.Run(ctx, diff.Options{Old: *earlier, New: output, Level: writer.MaxLevels, Temp: temp})
		if err != nil {
			return nil, err
		}
		f.compared = &compared
	}
	var results []record.Expected
	for _, e := range list {
		if e.Compares() && f.compared == nil {
			results = append(results, record.Expected{Expectation: e.String(), Value: "not compared, there is no earlier output", Met: true})
			continue
		}
		results = append(results, e.result(figureOf(e.Figure).of(&f)))
	}
	return results, nil
}

// Earlier returns the output at a path, with which another one is compared; nil if there is none, or for "".
func Earlier(ctx context.Context, path string) (*diff.Side, error) {
	if path == "" {
		return nil, nil
	}
	side, err := diff.SideOf(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(side.Parts) == 0:
		return nil, fmt.Errorf("the folder %s is no output: it has no parts", path)
	case side.Parts[0].Number > 0:
		folder, err := readback.ListFolder(ctx, path)
		if err == nil && !folder.Complete {
			err = fmt.Errorf("the folder %s is not complete: it has no %s", path, readback.SuccessName)
		}
		return &side, err
	}
	return &side, nil
}

// Comparable reads an earlier output before the output is there, and returns an error if it cannot be compared with one that has
// these classifications: it cannot be read, or has records of others only.
func Comparable(ctx context.Context, earlier diff.Side, classifications []string) error {
	summary, err := report.Summarize(ctx, earlier.Parts)
	if err != nil {
		return err
	}
	var has []string
	for _, c := range summary.Classifications {
		if slices.Contains(classifications, c.Name) {
			return nil
		}
		has = append(has, c.Name)
	}
	if has == nil {
		return nil // without records
	}
	return fmt.Errorf("it has records of %s, and the run asks for %s: nothing could be compared", strings.Join(has, " and "), strings.Join(classifications, " and "))
}

// CheckAgainst returns an error if an expectation compares with an earlier output, and none is named.
func CheckAgainst(list []Expectation, earlier string) error {
	if i := slices.IndexFunc(list, Expectation.Compares); i >= 0 && earlier == "" {
		return fmt.Errorf("%s compares with an earlier output: name it", list[i].Figure)
	}
	return nil
}

// Broken reports whether an expectation is not met.
func Broken(results []record.Expected) bool {
	return slices.ContainsFunc(results, func(r record.Expected) bool { return !r.Met })
}

// add sums up the classifications.
func (f *figures) add() {
	sum := 0.0
	for _, c := range f.summary.Classifications {
		f.records += c.Records
		f.categories += int64(c.Distinct)
		if c.Confidence.Mean == nil {
			continue
		}
		known := c.Confidence.Outside
		for _, n := range c.Confidence.Bins {
			known += n
		}
		f.confident += known
		sum += *c.Confidence.Mean * float64(known)
	}
	f.confidence = sum / float64(max(1, f.confident))
}

// status is the number of records with one of the statuses.
func (f *figures) status(names ...writer.Status) value {
	n := int64(0)
	for _, c := range f.summary.Classifications {
		for _, s := range c.Coverage {
			if slices.Contains(names, s.Status) {
				n += s.Records
			}
		}
	}
	return part(n, f.records)
}

func (f *figures) changed() value {
	changes := f.compared.Changes
	n := changes[diff.Status] + changes[diff.Category]
	return part(n, n+changes[diff.Confidence]+f.compared.Unchanged)
}

func (f *figures) newCategories() value {
	type category struct{ classification, value string }
	before, now := make(map[category]bool), make(map[category]bool)
	for _, m := range f.compared.Moves {
		if m.Old == diff.Others {
			return value{} // more than are counted
		}
		before[category{m.Classification, m.Old}], now[category{m.Classification, m.New}] = true, true
	}
	n := int64(0)
	for c := range now {
		if c.value != diff.NoCategory && c.value != diff.Absent && !before[c] {
			n++
		}
	}
	return count(n)
}
