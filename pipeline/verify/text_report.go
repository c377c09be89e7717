package verify

import (
	"fmt"
	"io"
	"strings"

	"github.com/bulkcat/bulkcat/writer"
)

// WriteText writes the findings and the figures as lines of text.
func (r Report) WriteText(out io.Writer) error {
	var b strings.Builder
	for _, finding := range r.Findings {
		fmt.Fprintln(&b, finding)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "and %d more findings\n", r.Omitted)
	}
	if r.Balanced {
		b.WriteString("balanced\n")
	}
	fmt.Fprintf(&b, "records  %d", r.Records)
	if n := len(r.Classifications); n > 1 {
		fmt.Fprintf(&b, " in %d classifications", n)
	}
	separator := ": "
	for _, s := range writer.Statuses {
		if n := r.Statuses[s]; n > 0 {
			fmt.Fprintf(&b, "%s%d %s", separator, n, s)
			separator = ", "
		}
	}
	fmt.Fprintf(&b, "\nrows     %d\nfiles    %d, %d bytes\ninput    %d records compared\nstore    %d answers compared, %d not in it\n",
		r.Rows, r.Files, r.Bytes, r.Inputs, r.Stored, r.NotStored)
	if r.Audit != nil {
		fmt.Fprintf(&b, "free     %d records: %s\n", r.Free, r.Audit)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
