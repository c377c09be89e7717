package run

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
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
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(bufio.NewReader(file)).ReadAll()
	if err != nil || len(records) == 0 {
		t.Fatalf("%s: %d rows, %v", path, len(records), err)
	}
	column := func(name string) int { return slices.Index(records[0], name) }
	record, input, status, reason := column("record"), column("input"), column("status"), column("error")
	for _, fields := range records[1:] {
		row := Row{fields[record], fields[input], fields[status], fields[reason]}
		if last := len(r.Rows) - 1; last < 0 || r.Rows[last] != row { // another category of the record
			r.Rows = append(r.Rows, row)
		}
	}
}

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
