package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

func TestFlaggedNamesFlags(t *testing.T) {
	refused := &pipeline.ServiceError{Input: "a.com", Err: &client.Error{Class: client.Auth, Status: 401}}
	for _, tt := range []struct {
		name string
		err  error
		want string // the end of the message
	}{
		{"key", refused, "check the API key in BULKCAT_API_KEY or --api-key-file"},
		{"another address", &client.Error{Class: client.Fatal, Status: 301}, "another address: check --base-url or BULKCAT_BASE_URL"},
		{"outage", &pipeline.StopError{Cause: account.OutageTooLong, Err: &limits.OutageError{Longest: time.Hour}}, "out for 1h0m0s; the limit is --max-outage"},
		{"requests", &pipeline.StopError{Cause: account.Budget, Err: &limits.SpentError{Limit: limits.MaxRequests, Value: 9}}, "the limit of 9 requests is reached: to go on, raise --max-requests"},
		{"reserve", &limits.SpentError{Limit: limits.Reserve, Value: 9}, "the reserve of 9 requests is reached (--reserve)"},
		{"store", &answers.Error{Path: "s", Kind: answers.Foreign}, "choose another file with --store"},
		{"format", &writer.FormatError{Path: "-"}, "; set --output-format"},
		{"column", &reader.ColumnError{Column: "x", Columns: []string{"a"}, Option: "Columns"}, "(columns: a); name one with --column NAME"},
		{"column of a text", &reader.ColumnError{Column: "x", Option: "ExtraColumns"}, "no column \"x\": the input has no columns"},
		{"cover sheet", &reader.ColumnError{Columns: []string{"Report"}, Candidates: []string{"url"}, Sheets: []string{"Cover", "List"}, Header: true, Option: "Columns"},
			"(columns: Report); the first sheet of Cover, List is read; name one with --column NAME, or add --dialect header=N if line N has the names of the columns, or header=none if the first line is data, or another sheet with --sheet NAME"},
		{"no candidate among keys", &reader.ColumnError{Columns: []string{"a"}, Candidates: []string{"url"}, Option: "Columns"}, "(columns: a); name one with --column NAME"},
		{"no header", &reader.ColumnError{Columns: []string{"a"}, Candidates: []string{"url"}, Header: true, Continues: "1.csv", Option: "Columns"}, "or pipe them with cat"},
		{"no candidate", &reader.ColumnError{Candidates: []string{"url"}, Header: true, Option: "Columns"}, "; name one with --column NAME, or add --dialect header=N if line N has the names of the columns, or header=none if the first line is data"},
		{"sheet", &reader.OptionError{Option: "Sheet", Reason: "there is none"}, "--sheet: there is none"},
		{"levels", errors.Join(&pipeline.OptionError{Option: "Output.Levels", Err: errors.New("too many")}), "--levels: too many"},
		{"two words", &pipeline.OptionError{Option: "Store.RefreshBudget", Err: errors.New("too many")}, "--refresh-budget: too many"},
		{"another name", &pipeline.OptionError{Option: "Output.Format", Err: errors.New("unknown")}, "--output-format: unknown"},
		{"no flag", &pipeline.OptionError{Option: "Each", Err: errors.New("missing")}, "Each: missing"},
		{"no option", &client.Error{Class: client.Quota, Status: 402}, "the quota of the API key is used up"},
	} {
		once := flagged(tt.err)
		if got := once.Error(); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: %q does not end in %q", tt.name, got, tt.want)
		}
		if twice := flagged(fmt.Errorf("job 1: %w", errors.Join(once))); twice.Error() != "job 1: "+once.Error() {
			t.Errorf("%s: flagged twice: %q", tt.name, twice)
		}
	}
}

// TestAdviceNamesFlags checks the flags that the tables name against the flags of all commands.
func TestAdviceNamesFlags(t *testing.T) {
	known := make(map[string]bool)
	for _, kind := range []client.Kind{client.Website, client.Product} {
		cmd, _ := newRunCommand(streams{}, kind)
		for _, g := range groups(cmd) {
			for f := range strings.FieldsSeq(g.flags.FlagUsages()) {
				known[f] = true
			}
		}
	}
	known["--input-column"], known["--label-column"] = true, true         // of eval and learn
	known["--source"] = true                                              // of learn
	known["--category-column"], known["--confidence-column"] = true, true // of store import
	for option, text := range adviceOf {
		checkFlags(t, known, option, text)
	}
	for option, text := range otherNames {
		checkFlags(t, known, option, text)
	}
}

var flagName = regexp.MustCompile(`--[a-z-]+`)

func checkFlags(t *testing.T, known map[string]bool, option, text string) {
	t.Helper()
	for _, name := range flagName.FindAllString(text, -1) {
		if !known[name] {
			t.Errorf("%s: there is no flag %s", option, name)
		}
	}
}
