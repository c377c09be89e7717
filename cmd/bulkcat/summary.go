package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/pipeline"
)

// summarize tells what became of the run.
func summarize(out io.Writer, a *pipeline.Account, quota *quota, redirection string) {
	c := a.Counts
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	took := a.Ended.Sub(a.Started)
	fmt.Fprintf(out, "%s after %s\n", headline(a.Ending), took.Round(time.Millisecond))
	line("records", "%d: %s", c.Written, byStatus(c))
	if c.Kept > 0 {
		line("kept", "%d records in parts that were published before", c.Kept)
	}
	line("requests", "%d made (%d retries), %d saved by dedupe, %d by stored answers", c.Requests, c.Retries, c.Deduped, c.FromStore)
	if seconds := took.Seconds(); seconds > 0 {
		line("rate", "%.1f records/s", float64(c.Written-c.Kept)/seconds)
	}
	if d := c.Drift; d != (pipeline.DriftCount{}) {
		line("drift", "%d entries without a value (dropped), %d confidences outside 0 to 1, %d categories that the taxonomy does not have", d.Dropped, d.Confidence, d.Category)
	}
	if c.Rechecks > 0 {
		line("repeated", "%d requests that were answered before, to see whether the service still works", c.Rechecks)
	}
	if left := quota.forecast(); left != "" {
		line("account", "%s left", left)
	}
	if a.Ending == pipeline.Complete {
		line("output", "%s (%d rows)", place(a.Settings.Output), c.Rows)
		return
	}
	if a.Settings.Output != "-" {
		line("resume", "%s%s", resumeCommand(os.Args), redirection)
	}
}

func headline(e pipeline.Ending) string {
	switch e {
	case pipeline.Complete:
		return "Complete"
	case pipeline.Failed:
		return "Failed"
	}
	return "Stopped (" + string(e) + "), resumable,"
}

func byStatus(c pipeline.Snapshot) string {
	var parts []string
	for _, s := range []struct {
		n    int64
		name string
	}{{c.OK, "ok"}, {c.Empty, "empty"}, {c.Rejected, "rejected"}, {c.Failed, "failed"}, {c.Invalid, "invalid"}, {c.Pending, "pending"}} {
		if s.n > 0 || s.name == "ok" {
			parts = append(parts, fmt.Sprintf("%d %s", s.n, s.name))
		}
	}
	return strings.Join(parts, ", ")
}

func place(output string) string {
	if output == "-" {
		return "standard output"
	}
	return output
}

// resumeCommand is the command line to be typed again. It holds no secret: those have
// files, since every user of a machine can see its command lines.
func resumeCommand(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = shellQuote(a)
	}
	return strings.Join(quoted, " ")
}

// shellQuote makes one word of a for a POSIX shell.
func shellQuote(a string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"
	if a != "" && strings.Trim(a, plain) == "" {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}
