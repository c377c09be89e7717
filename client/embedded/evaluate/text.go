package evaluate

import (
	"fmt"
	"io"
	"text/tabwriter"
)

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
