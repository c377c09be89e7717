package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/process"
)

// Row has the columns that all rows of a record share.
type Row struct {
	Record, Input, Status, Error string
}

// Line is one line of the log.
type Line struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level"`
	Message string    `json:"msg"`
	Error   string    `json:"error"`
}

// readWarnings reads the warnings of the log. The level ERROR is only that of the error that ends the
// run.
func (r *Result) readWarnings() {
	lines := bufio.NewScanner(strings.NewReader(r.Log))
	for lines.Scan() {
		var line Line
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Level == "WARN" {
			r.Warnings = append(r.Warnings, line)
		}
	}
}

func (r *Result) readRows(t testing.TB, path string) {
	t.Helper()
	rows, err := process.Rows(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, fields := range rows {
		row := Row{fields["record"], fields["input"], fields["status"], fields["error"]}
		if last := len(r.Rows) - 1; last < 0 || r.Rows[last] != row { // another category of the record
			r.Rows = append(r.Rows, row)
		}
	}
}

// readAccount does not use package account, which would add all dependencies of bulkcat to this module.
func (r *Result) readAccount(t testing.TB, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var account struct {
		Counts struct {
			Requests int64 `json:"requests"`
		} `json:"counts"`
	}
	if err == nil {
		err = json.Unmarshal(content, &account)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	r.Requests = account.Counts.Requests
}

// WriteTable prints a Markdown table, whose first and last columns are texts and whose others are numbers, and writes it to the
// file that an environment variable names. Without rows it does nothing.
func WriteTable(variable string, head []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	var text strings.Builder
	line := func(cells []string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	text.WriteString("|---|" + strings.Repeat("--:|", len(head)-2) + "---|\n")
	for _, row := range rows {
		line(row)
	}
	fmt.Print(text.String())
	if path := os.Getenv(variable); path != "" {
		return os.WriteFile(path, []byte(text.String()), 0o644)
	}
	return nil
}
