package selection

import (
	"fmt"
	"math"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
)

// shardOf is the number of the shard that holds a record.
func shardOf(t *testing.T, kind client.Kind, count int, r reader.Record) int {
	t.Helper()
	found := 0
	for n := range count {
		split := NewSplitter(account.Shard{Number: n + 1, Count: count}, kind, account.Requested{})
		if !split.Holds(&r) {
			continue
		}
		if found != 0 {
			t.Errorf("%q is in the shards %d and %d", r.Input, found, n+1)
		}
		found = n + 1
	}
	return found
}

// TestSplitIsStable has the shards of inputs in this and all later versions: the shards of a run may be of
// different versions.
func TestSplitIsStable(t *testing.T) {
	for _, tt := range []struct {
		kind     client.Kind
		input    string
		of16, of int // shard of 16, and of 1000
	}{
		{client.Website, "example.com", 9, 201},
		{client.Website, "https://www.example.com/", 9, 201},
		{client.Website, "http://EXAMPLE.com?a=b", 9, 201},
		{client.Website, "example.com/path", 12, 364},
		{client.Website, "bücher.example", 13, 725},
		{client.Website, "not a website", 5, 413},
		{client.Website, "", 10, 746},
		{client.Product, "Dog Collar of leather", 12, 364},
		{client.Product, "  Dog  Collar of\tleather ", 12, 364},
		{client.Product, "example.com", 4, 596},
	} {
		t.Run(string(tt.kind)+" "+tt.input, func(t *testing.T) {
			r := reader.Record{Input: tt.input}
			if got := shardOf(t, tt.kind, 16, r); got != tt.of16 {
				t.Errorf("shard %d of 16, want %d", got, tt.of16)
			}
			if got := shardOf(t, tt.kind, 1000, r); got != tt.of {
				t.Errorf("shard %d of 1000, want %d", got, tt.of)
			}
		})
	}
	if account.SplitRule != "xxh64-site-1" {
		t.Error("a new rule needs a new name, and the old rule must stay")
	}
}

// TestMalformedRecordsAreSplitByTheirText has a malformed row and a row with the same input.
func TestMalformedRecordsAreSplitByTheirText(t *testing.T) {
	text := "  Dog  Collar"
	malformed := reader.Record{Input: text, Err: &reader.RowError{}}
	if got, tidy := shardOf(t, client.Product, 1000, malformed), shardOf(t, client.Product, 1000, reader.Record{Input: "Dog Collar"}); got == tidy {
		t.Errorf("both are in the shard %d", got)
	}
}

func TestShardsAreOfEqualSize(t *testing.T) {
	const inputs, count = 100_000, 16
	var sizes [count]int
	for n := range count {
		split := NewSplitter(account.Shard{Number: n + 1, Count: count}, client.Website, account.Requested{})
		for i := range inputs {
			if split.Holds(&reader.Record{Input: fmt.Sprintf("shop-%d.example.com", i)}) {
				sizes[n]++
			}
		}
	}
	sum := 0
	for n, size := range sizes {
		sum += size
		if deviation := math.Abs(float64(size)-inputs/count) / (inputs / count); deviation > 0.05 {
			t.Errorf("the shard %d has %d records", n+1, size)
		}
	}
	if sum != inputs {
		t.Errorf("the shards have %d records", sum)
	}
}
