package progress

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

func TestDetails(t *testing.T) {
	var c Counters
	c.ObserveAttempt(time.Second) // has no effect: details are not gathered yet
	if c.Details() != nil {
		t.Fatal("details without GatherDetails")
	}
	c.GatherDetails()
	for n := range shownCategories + 1 { // the last is the most frequent
		for range n + 1 {
			c.ObserveAnswer(client.Entry{Value: fmt.Sprintf("Category %02d > Below", n), Confidence: 0.95})
		}
	}
	c.ObserveAnswer(client.Entry{Value: "311", Title: "Food", Confidence: math.NaN()})
	for n := range shownFailures + 1 {
		record := &reader.Record{File: "in.csv", Line: int64(n + 1), Input: strings.Repeat("\u00e9", inputShown)}
		c.CountSettled(writer.StatusFailed, Settled{Record: record, Err: errors.New("no answer")})
	}
	c.ObserveAttempt(2 * time.Millisecond)
	c.ObserveAttempt(time.Hour)

	d := c.Details()
	if n := len(d.Categories); n != shownCategories || d.Categories[0].Name != "Category 12" || d.Categories[0].Records != 13 {
		t.Errorf("%d categories, the first %+v", n, d.Categories[0])
	}
	if d.Confidence[9] != 91 {
		t.Errorf("%d records with a high confidence, want 91 without that of no number", d.Confidence[9])
	}
	if n := len(d.Failures); n != shownFailures || d.Failures[0].Line != shownFailures+1 || len(d.Failures[0].Input) > inputShown {
		t.Errorf("%d failures, the first %+v", n, d.Failures[0])
	}
	if d.Attempts.Counts[1] != 1 || d.Attempts.Counts[len(d.Attempts.Bounds)] != 1 {
		t.Errorf("attempts %+v", d.Attempts)
	}
}

// Each field of the snapshot has the number of its counter.
func TestSnapshot(t *testing.T) {
	var c Counters
	c.Read.Add(1)
	c.Outages.Add(2)
	c.Drift.Dropped.Add(3)
	c.CountLookups(200, 50)
	c.CountSettled(writer.StatusInvalid, Settled{Record: &reader.Record{}, Err: errors.New("no input"), Recalled: true})
	s := c.Snapshot()
	if s.Read != 1 || s.Outages != 2 || s.Drift.Dropped != 3 || s.LookedUp != 200 || s.New != 0.25 || s.Invalid != 1 || s.Recalled != 1 || len(s.Reasons) != 1 {
		t.Errorf("got %+v", s)
	}
}
