package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table is a table of strings. Its rows have the length of its head.
type table struct {
	title string
	head  []string
	rows  [][]string
}

// newClaims returns a table for addClaim.
func newClaims(title string) *table {
	return &table{title: title, head: []string{"measured", "result", "wanted"}}
}

func (t *table) addClaim(name string, c claim) { t.add(name, c.figure(), c.status()) }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// markdown returns the title and the table with aligned columns, in Markdown. No cell may have a "|".
func (t *table) markdown() string {
	var b strings.Builder
	b.WriteString("**" + t.title + "**\n\n")
	cells := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	for _, row := range append([][]string{t.head, slices.Repeat([]string{"---"}, len(t.head))}, t.rows...) {
		fmt.Fprintf(cells, "| %s\t|\n", strings.Join(row, "\t| "))
	}
	cells.Flush() // never fails: b takes all
	return b.String()
}

// section is a part of a document that this command writes. It lies between markers.
type section struct{ begin, end string }

// The sections of RESULTS.md.
var (
	performance = newSection("performance", "make bench")
	grown       = newSection("growth", "make bench-growth")
)

func newSection(name, command string) section {
	return section{begin: "<!-- " + name + ": made by `" + command + "` -->\n", end: "<!-- /" + name + " -->\n"}
}

// rewrite replaces the section of a file. It does not change a file without the markers, or with several pairs of markers.
func (s section) rewrite(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	replaced, err := s.replace(string(old), text)
	if err != nil {
		return fmt.Errorf("write the figures to %s: %w", path, err)
	}
	return os.WriteFile(path, []byte(replaced), 0o666)
}

func (s section) replace(old, text string) (string, error) {
	if strings.Count(old, s.begin) != 1 || strings.Count(old, s.end) != 1 {
		return "", errors.New("there must be one pair of the lines " + strings.TrimSpace(s.begin) + " and " + strings.TrimSpace(s.end))
	}
	before, rest, _ := strings.Cut(old, s.begin)
	_, after, found := strings.Cut(rest, s.end)
	if !found {
		return "", errors.New("the line " + strings.TrimSpace(s.end) + " must come after the other")
	}
	return before + s.begin + "\n" + strings.TrimSpace(text) + "\n\n" + s.end + after, nil
}

// occasion describes the date, the revision, the machine and its load. Call it before the measurements, which raise the load.
func occasion(ctx context.Context, command string) string {
	text := fmt.Sprintf("Measured on %s by `%s`, revision %s: %s, %s/%s, %d cores",
		time.Now().Format(time.DateOnly), command, revision(ctx), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if model := firstValue("/proc/cpuinfo", "model name"); model != "" {
		text += " of " + model
	}
	if memory := firstValue("/proc/meminfo", "MemTotal"); memory != "" {
		text += ", memory " + memory
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		text += ", kernel " + strings.TrimSpace(string(kernel))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		minute, _, _ := strings.Cut(string(load), " ")
		text += ", load before " + minute
	}
	return text + "."
}

func revision(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// firstValue returns the value of the first line "name : value" in a file; "" if there is none.
func firstValue(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
