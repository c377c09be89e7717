package flow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// TestReasons wants each class of errors once, with its count and its first record.
func TestReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun("good", "", "refused 1", "refused 2", "broken", "slow", "", "refused 1")
		x.service.answer = func(_ context.Context, input string, _ int) error {
			kind, _, _ := strings.Cut(input, " ")
			switch kind {
			case "refused":
				return &client.Error{Class: client.Rejected, Status: 404, Detail: "no " + input}
			case "broken":
				return &client.Error{Class: client.Transient, Status: 503}
			case "slow":
				return &client.Error{Class: client.Transient, Err: fmt.Errorf("dial tcp: refused")}
			}
			return nil
		}
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := x.counters.Snapshot().Reasons
		want := []account.Reason{
			{Status: "blank", Class: "input", Text: "the input is empty", Records: 2, File: "in.txt", Line: 2},
			{Status: "failed", Class: "503", Text: "HTTP 503 Service Unavailable", Records: 1, File: "in.txt", Line: 5},
			{Status: "failed", Class: "no response", Text: "no response", Example: "dial tcp: refused", Records: 1, File: "in.txt", Line: 6},
			{Status: "rejected", Class: "404", Text: "HTTP 404 Not Found", Example: "no refused 1", Records: 3, File: "in.txt", Line: 3},
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
}

// TestSettledRecordsCountAtOnce has the first record wait for its retry.
func TestSettledRecordsCountAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(100)...)
		x.options.Retry.Jitter = func(time.Duration) time.Duration { return time.Hour }
		x.service.answer = func(ctx context.Context, input string, attempt int) error {
			if input == "title 1" && attempt == 1 {
				return &client.Error{Class: client.Transient}
			}
			return wait(ctx, time.Second)
		}
		ended := make(chan error, 1)
		go func() { ended <- x.run(t.Context()) }()
		time.Sleep(30 * time.Minute)
		if c := x.counters.Snapshot(); c.Settled() != 99 || c.SettledNow() != 99 || c.Written != 0 {
			t.Errorf("%d records are settled, %d of them now, and %d are written; want 99, 99 and 0", c.Settled(), c.SettledNow(), c.Written)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if c := x.counters.Snapshot(); c.Settled() != 100 || c.Written != 100 {
			t.Errorf("%d records are settled, %d are written; want 100", c.Settled(), c.Written)
		}
	})
}

// TestStoredOutcomesAreNoSpeed runs twice over a list with equal records.
func TestStoredOutcomesAreNoSpeed(t *testing.T) {
	files := t.TempDir()
	for _, want := range []int64{6, 2} {
		x := newTestRun("shoe", "shoe", "hat", "coat", "hat", "shoe")
		if want == 2 {
			x.source.inputs = append(x.source.inputs, "scarf", "scarf")
		}
		x.store = openStore(t, files)
		if err := x.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := x.counters.Snapshot(); c.SettledNow() != want || c.Settled() != int64(len(x.source.inputs)) {
			t.Errorf("%d of %d records settled now, want %d", c.SettledNow(), c.Settled(), want)
		}
		if err := x.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
