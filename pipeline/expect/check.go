package expect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/report"
	"github.com/bulkcat/bulkcat/writer"
)

// figures are the figures of an output.
type figures struct {
	records, rows, categories int64
	statuses                  account.Statuses
	confidence                value // the mean
	compared                  *diff.Summary
}

// Check compares an output with a list of expectations. Expectations that compare with an earlier output are met if earlier is
// nil. temp is the folder for temporary files; "" for the system's. The error is that of reading the outputs.
func Check(ctx context.Context, list []Expectation, output diff.Side, earlier *diff.Side, temp string) ([]account.Expected, error) {
	summary, err := report.Summarize(ctx, output.Parts)
	if err != nil {
		return nil, err
	}
	f := figuresOf(summary)
	if earlier != nil && slices.ContainsFunc(list, Expectation.Compares) {
		compared, err := diff.Run(ctx, diff.Options{Old: *earlier, New: output, Level: writer.MaxLevels, Temp: temp})
		if err != nil {
			return nil, err
		}
		f.compared = &compared
	}
	var results []account.Expected
	for _, e := range list {
		if e.Compares() && f.compared == nil {
			results = append(results, account.Expected{Expectation: e.String(), Value: "not compared, there is no earlier output", Met: true})
			continue
		}
		results = append(results, e.result(f.value(e.Figure)))
	}
	return results, nil
}

// Earlier returns the output at a path, for a comparison. It is nil if the path is "" or does not exist. The error says that
// the path is no output, or an incomplete folder.
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
			err = fmt.Errorf("the folder %s is not complete: it has no %s", path, writer.SuccessName)
		}
		return &side, err
	}
	return &side, nil
}

// Comparable checks before a run that its output can be compared with an earlier output. It returns an error if the earlier output
// cannot be read, or has no records of the given classifications.
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
		return nil // no records
	}
	return fmt.Errorf("it has records of %s, and the run asks for %s: nothing could be compared", strings.Join(has, " and "), strings.Join(classifications, " and "))
}

// CheckAgainst returns an error if an expectation compares with an earlier output, and earlier is "".
func CheckAgainst(list []Expectation, earlier string) error {
	if i := slices.IndexFunc(list, Expectation.Compares); i >= 0 && earlier == "" {
		return fmt.Errorf("%s compares with an earlier output: name it", list[i].Figure)
	}
	return nil
}

// Broken reports whether any expectation is not met.
func Broken(results []account.Expected) bool {
	return slices.ContainsFunc(results, func(r account.Expected) bool { return !r.Met })
}

// figuresOf sums the classifications of a summary.
func figuresOf(s report.Summary) *figures {
	f, sum, confident := &figures{rows: s.Rows}, 0.0, int64(0)
	for _, c := range s.Classifications {
		f.records += c.Records
		f.categories += int64(c.Distinct)
		for _, status := range c.Coverage {
			if n := f.statuses.WithStatus(status.Status); n != nil {
				*n += status.Records
			}
		}
		if c.Confidence.Mean == nil {
			continue
		}
		known := c.Confidence.Outside
		for _, n := range c.Confidence.Bins {
			known += n
		}
		confident += known
		sum += *c.Confidence.Mean * float64(known)
	}
	f.confidence = value{number: sum / float64(max(1, confident)), known: confident > 0}
	return f
}

// value returns the value of a figure.
func (f *figures) value(name string) value {
	figure := figureOf(name)
	if figure.of != nil {
		return figure.of(f)
	}
	n := int64(0)
	for _, status := range figure.statuses {
		n += *f.statuses.WithStatus(status)
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
			return value{} // the list of moves was cut: unknown
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
