package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// Report is the result of a Comparison. Shares are between 0 and 1; a share of no records is 0.
type Report struct {
	Records    int64 `json:"records"`
	Invalid    int64 `json:"invalid"`        // records that could not be asked
	Unlabelled int64 `json:"unlabelled"`     // records without a label, which count nowhere else
	Labelled   int64 `json:"labelled"`       // records with a label
	Unknown    int64 `json:"unknown_labels"` // labelled records whose label is not in the taxonomy: no answer is right
	Answered   int64 `json:"answered"`       // labelled records with at least one entry

	Coverage       float64 `json:"coverage"` // share of the labelled records that are answered
	Top1           float64 `json:"top_1"`
	Top3           float64 `json:"top_3"`
	Top1OfAnswered float64 `json:"top_1_of_answered"`

	Levels           []Level     `json:"levels"`
	Bins             []Bin       `json:"reliability"`
	CalibrationError float64     `json:"calibration_error"`
	Confusions       []Confusion `json:"confusions"`
	Uncounted        int64       `json:"confusions_uncounted"` // confusions beyond the first 65,536 distinct pairs
}

// Level is the share of first answers that agree with the label down to a level.
type Level struct {
	Level    int     `json:"level"`    // 1 at the top
	Labelled int64   `json:"labelled"` // records whose label has this level
	Right    float64 `json:"right"`
}

// Bin is the records whose first entry has a confidence from From to below To, or to 1 in the last bin.
type Bin struct {
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	Count      int64   `json:"count"`
	Confidence float64 `json:"mean_confidence"`
	Right      float64 `json:"right"`
}

// Confusion is a label and a wrong first answer to it.
type Confusion struct {
	Label  string `json:"label"` // the first allowed value
	Answer string `json:"answer"`
	Count  int64  `json:"count"`
}

const mostConfusions = 20

// Report returns the results so far.
func (t *Comparison) Report() Report {
	r := Report{
		Records: t.records, Invalid: t.invalid, Unlabelled: t.unlabelled, Labelled: t.labelled,
		Unknown: t.unknown, Answered: t.answered, Uncounted: t.uncounted,
		Coverage:       ratio{t.answered, t.labelled}.share(),
		Top1:           ratio{t.first, t.labelled}.share(),
		Top3:           ratio{t.three, t.labelled}.share(),
		Top1OfAnswered: ratio{t.first, t.answered}.share(),
		Levels:         []Level{},
		Confusions:     t.topConfusions(),
	}
	for i, level := range t.byLevel {
		if level.of > 0 {
			r.Levels = append(r.Levels, Level{i + 1, level.of, level.share()})
		}
	}
	r.Bins, r.CalibrationError = t.reliability()
	return r
}

// reliability returns the bins with records, and the calibration error.
func (t *Comparison) reliability() ([]Bin, float64) {
	list, all, wrong := []Bin{}, int64(0), 0.0
	for i, b := range t.byBin {
		if b.of == 0 {
			continue
		}
		mean := b.confidence / float64(b.of)
		list = append(list, Bin{float64(i) / bins, float64(i+1) / bins, b.of, mean, b.share()})
		all += b.of
		wrong += float64(b.of) * math.Abs(mean-b.share())
	}
	if all == 0 {
		return list, 0
	}
	return list, wrong / float64(all)
}

func (t *Comparison) topConfusions() []Confusion {
	list := make([]Confusion, 0, len(t.confusions))
	for p, n := range t.confusions {
		list = append(list, Confusion{p.label, p.answer, n})
	}
	slices.SortFunc(list, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Label, b.Label), cmp.Compare(a.Answer, b.Answer))
	})
	return slices.Clone(list[:min(len(list), mostConfusions)])
}

// WriteText writes the report as tables for a terminal.
func (r Report) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "records\t%d\t%d labelled, %d without a label, %d invalid\n", r.Records, r.Labelled, r.Unlabelled, r.Invalid)
	if r.Unknown > 0 {
		fmt.Fprintf(w, "unknown labels\t%d\tare not in the taxonomy: no answer to them can be right\n", r.Unknown)
	}
	fmt.Fprintf(w, "coverage\t%s\t%d answered\n", percent(r.Coverage), r.Answered)
	fmt.Fprintf(w, "top-1\t%s\t%s of the answered\n", percent(r.Top1), percent(r.Top1OfAnswered))
	fmt.Fprintf(w, "top-3\t%s\n", percent(r.Top3))
	fmt.Fprintln(w, "\nLEVEL\tLABELLED\tRIGHT")
	for _, level := range r.Levels {
		fmt.Fprintf(w, "%d\t%d\t%s\n", level.Level, level.Labelled, percent(level.Right))
	}
	fmt.Fprintln(w, "\nCONFIDENCE\tRECORDS\tMEAN\tRIGHT")
	for _, bin := range r.Bins {
		fmt.Fprintf(w, "%.1f to %.1f\t%d\t%.2f\t%.2f\n", bin.From, bin.To, bin.Count, bin.Confidence, bin.Right)
	}
	fmt.Fprintf(w, "calibration error\t\t\t%.2f\n", r.CalibrationError)
	if len(r.Confusions) > 0 {
		fmt.Fprintln(w, "\nCOUNT\tLABEL\tANSWERED")
	}
	for _, c := range r.Confusions {
		fmt.Fprintf(w, "%d\t%s\t%s\n", c.Count, c.Label, c.Answer)
	}
	if r.Uncounted > 0 {
		fmt.Fprintf(w, "%d\t(rarer pairs, not told apart)\n", r.Uncounted)
	}
	return w.Flush()
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
