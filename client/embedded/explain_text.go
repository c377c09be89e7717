package embedded

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/bulkcat/bulkcat/client"
)

// mostContributions is the number of contributions to an entry that are listed. The others weigh little.
const mostContributions = 8

// WriteText writes the explanation as tables for a terminal. The error is that of writing, or of parsing the answer.
func (e Explanation) WriteText(out io.Writer) error {
	answer, err := client.ParseAnswer(e.Answer, e.classification)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s  %s\n", e.Kind, e.Input)
	if e.Kind == client.Website && !e.PageRead {
		fmt.Fprintln(out, "no page was read: only the name decides")
	}
	if len(answer.Entries) == 0 {
		_, err := fmt.Fprintf(out, "\nNothing fits: no words support a category of %s.\n", e.classification)
		return err
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WORDS\tREAD IN\tWEIGHT\tSHARE\tCATEGORY")
	for _, entry := range answer.Entries {
		e.writeContributions(w, entry.Value)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	fmt.Fprintln(w, "RANK\tCONFIDENCE\tVALUE")
	for i, entry := range answer.Entries {
		fmt.Fprintf(w, "%d\t%.4f\t%s\n", i+1, entry.Confidence, strings.TrimSpace(entry.Value+"  "+entry.Title))
	}
	return w.Flush()
}

// writeContributions writes the weightiest contributions to an entry, and one row for all others.
func (e Explanation) writeContributions(w io.Writer, value string) {
	shown, more, weight, share := 0, 0, 0.0, 0.0
	for _, c := range e.Contributions {
		if c.Value != value {
			continue
		}
		if shown == mostContributions {
			more, weight, share = more+1, weight+c.Weight, share+c.Share
			continue
		}
		shown++
		category := c.Value
		if c.Speaker != c.Value {
			category += "  (through " + c.Speaker + ")"
		}
		if c.Seen > 0 {
			category += fmt.Sprintf("  (labelled inputs with both: %d)", c.Seen)
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.0f%%\t%s\n", c.Words, strings.Join(c.Fields, ", "), c.Weight, 100*c.Share, category)
	}
	if more > 0 {
		fmt.Fprintf(w, "(%d more)\t\t%.2f\t%.0f%%\t%s\n", more, weight, 100*share, value)
	}
}
