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
		spent, saved int64 // requests
		before       int
		want         string
	}{
		"first start": {5, 0, 0, "0.05 USD"},
		"saved":       {5, 2, 0, "0.05 USD; saved 0.02 USD"},
		"goes on":     {5, 2, 1, "0.05 USD by this start"},
	} {
		if got := costText(&money.Cost{Price: price, Spent: price.Of(tt.spent), Saved: price.Of(tt.saved)}, tt.before); got != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestScopesTold wants figures of this start and of all starts on lines of their own, and the records of the input after an early end.
func TestScopesTold(t *testing.T) {
	price := money.Price{Request: 10_000_000, Currency: "USD"} // a cent
	start := account.EarlierRun{Ending: account.Ending(account.Budget), Counts: account.Snapshot{Counts: account.Counts[int64]{Requests: 100}}}
	for name, tt := range map[string]struct {
		account account.Account
		total   int64
		want    []string // lines
		never   string
	}{
		"first start": {
			account.Account{Ending: account.Complete, Saved: 4, Counts: account.Snapshot{Counts: account.Counts[int64]{Requests: 60, ByStatus: account.ByStatus[int64]{OK: 64}}}}, 64,
			[]string{"  records   64: 64 ok", "  requests  60 made, 4 saved"}, "start",
		},
		"stopped early": {
			account.Account{Ending: account.Ending(account.Budget), Counts: account.Snapshot{Counts: account.Counts[int64]{Requests: 60, ByStatus: account.ByStatus[int64]{OK: 60}}}}, 500,
			[]string{"  records   60 of 500: 60 ok", "  requests  60 made"}, "start",
		},
		"third start": {
			account.Account{
				Ending: account.Complete, Saved: 4, Counts: account.Snapshot{Counts: account.Counts[int64]{Requests: 60, FromStore: 200, ByStatus: account.ByStatus[int64]{OK: 264}}},
				Store: "s.db", Cost: &money.Cost{Price: price, Spent: price.Of(60), Total: price.Of(260), Saved: price.Of(4)}, Earlier: []account.EarlierRun{start, start},
			}, 264,
			[]string{"  requests  60 made by this start; 200 stored answers from s.db", "  cost      0.60 USD by this start", "  in all    260 made by 3 starts, 4 saved; 2.60 USD, saved 0.04 USD"}, " of 264",
		},
	} {
		var text strings.Builder
		(&summary{account: &tt.account, total: tt.total}).print(&text)
		lines := strings.Split(text.String(), "\n")
		for _, want := range tt.want {
			if !slices.Contains(lines, want) || strings.Contains(text.String(), tt.never) {
				t.Errorf("%s: no line %q, or %q, in\n%s", name, want, tt.never, &text)
			}
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
		(&summary{account: &account.Account{Counts: account.Snapshot{
			Counts: account.Counts[int64]{ByStatus: account.ByStatus[int64]{OK: 100}}, Reasons: tt.reasons,
		}}}).printReasons(line)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tt.want)
		}
	}
}
