package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer"
)

// TestDriftTold wants a line for each departure that has occurred.
func TestDriftTold(t *testing.T) {
	for name, tt := range map[string]struct {
		drift account.Drift[int64]
		want  []string // the beginnings of the lines
	}{
		"none":       {account.Drift[int64]{}, nil},
		"categories": {account.Drift[int64]{Category: 9776}, []string{"9776 entries of answers name a category that is not in the taxonomy as bulkcat knows it"}},
		"others":     {account.Drift[int64]{Confidence: 2, Dropped: 1}, []string{"2 entries of answers have no confidence", "1 entries of answers have no category"}},
		"order":      {account.Drift[int64]{Order: 5}, []string{"5 answers are not in the order of confidence"}},
	} {
		got := drift(tt.drift)
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestQuotaTold wants the quota after a run that was stopped, or that could not be repeated.
func TestQuotaTold(t *testing.T) {
	for name, tt := range map[string]struct {
		remaining string
		ending    account.Ending
		want      bool
	}{
		"enough":             {"500", account.Complete, false},
		"too low":            {"99", account.Complete, true},
		"stopped":            {"500", account.Ending(account.Interrupted), true},
		"stopped, no limit":  {"unlimited", account.Ending(account.Interrupted), false},
		"words of its own":   {"a few", account.Ending(account.Interrupted), true},
		"complete, in words": {"a few", account.Complete, false},
	} {
		s := summary{account: &account.Account{Ending: tt.ending}, usage: client.Usage{Remaining: tt.remaining}}
		s.account.Counts.Requests = 100
		if got := s.isShort(); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestCostTold wants what was saved only where something was.
func TestCostTold(t *testing.T) {
	price := money.Price{Request: 10_000_000, Currency: "USD"} // a cent
	for name, tt := range map[string]struct {
		spent, total, saved int64 // requests
		want                string
	}{
		"first start": {5, 5, 0, "0.05 USD"},
		"goes on":     {5, 8, 2, "0.05 USD, 0.08 USD with the starts before; saved 0.02 USD"},
	} {
		if got := costText(&money.Cost{Price: price, Spent: price.Of(tt.spent), Total: price.Of(tt.total), Saved: price.Of(tt.saved)}); got != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestReasonsTold wants the two most frequent reasons of a status, and advice against the most frequent.
func TestReasonsTold(t *testing.T) {
	reason := func(status writer.Status, class, text, example string, records int64) account.Reason {
		return account.Reason{Status: status, Class: class, Text: text, Example: example, Records: records, File: "in.csv", Line: 7}
	}
	for name, tt := range map[string]struct {
		reasons []account.Reason
		want    []string
	}{
		"none": {nil, nil},
		"slow service": {
			[]account.Reason{reason("failed", "timeout", "timeout", "the service did not answer in time", 4)},
			[]string{`failed 4: timeout, such as "the service did not answer in time" (in.csv:7)`, " to wait longer for an answer, raise --timeout; the next run asks again"},
		},
		"too fast": {
			[]account.Reason{reason("failed", "429", "HTTP 429 Too Many Requests", "", 4), reason("failed", "503", "HTTP 503 Service Unavailable", "", 2)},
			[]string{"failed 4: HTTP 429 Too Many Requests (in.csv:7)", " 2: HTTP 503 Service Unavailable (in.csv:7)", " to ask more slowly, lower --rate; the next run asks again"},
		},
		"a few wrong inputs": {
			[]account.Reason{reason("invalid", account.ClassInput, "the input is empty", "", 9)},
			[]string{"invalid 9: the input is empty (in.csv:7)"},
		},
		"a wrong column": {
			[]account.Reason{reason("invalid", account.ClassInput, "not a website", "", 50)},
			[]string{"invalid 50: not a website (in.csv:7)", " if the inputs are in another column, name it with --column"},
		},
		"many": {
			[]account.Reason{
				reason("invalid", account.ClassRow, "a", "", 9), reason("invalid", account.ClassRow, "b", "", 8), reason("invalid", account.ClassRow, "c", "", 7),
				reason("invalid", account.ClassRow, "d", "", 6), reason("invalid", account.ClassRow, "e", "", 5), reason("rejected", "404", "HTTP 404 Not Found", "no \x1b such", 2),
			},
			[]string{
				"invalid 9: a (in.csv:7)", " 8: b (in.csv:7)", " 18 for other reasons: see the column error",
				`rejected 2: HTTP 404 Not Found, such as "no \x1b such" (in.csv:7)`, " to ask again for rejected inputs, add --retry-rejected",
			},
		},
	} {
		var got []string
		line := func(name, format string, args ...any) { got = append(got, name+" "+fmt.Sprintf(format, args...)) }
		printReasons(line, account.Snapshot{Counts: account.Counts[int64]{ByStatus: account.ByStatus[int64]{OK: 100}}, Reasons: tt.reasons})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tt.want)
		}
	}
}
