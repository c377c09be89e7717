package pipeline

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
)

func TestShardFromEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		environment string
		want        string // the shard, or a part of the error
	}{
		"generic":                             {"BULKCAT_SHARD_INDEX=0 BULKCAT_SHARD_COUNT=4", "1/4"},
		"generic before a scheduler":          {"BULKCAT_SHARD_INDEX=3 BULKCAT_SHARD_COUNT=4 SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2", "4/4"},
		"Slurm from 0":                        {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=1", "4/8"},
		"Slurm from 1":                        {"SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1", "8/8"},
		"Slurm with steps":                    {"SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=2", "8/8"},
		"Slurm between steps":                 {"SLURM_ARRAY_TASK_ID=13 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=2", "must follow each other"},
		"Slurm with gaps":                     {"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1", "must follow each other"},
		"Slurm alone":                         {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=5", "1/1"},
		"Slurm alone, with the generic count": {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=5 BULKCAT_SHARD_COUNT=8", "name its shard, such as 3/8"},
		"Slurm with the same generic count":   {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 BULKCAT_SHARD_COUNT=8", "6/8"},
		"Kubernetes":                          {"JOB_COMPLETION_INDEX=2 BULKCAT_SHARD_COUNT=3", "3/3"},
		"Kubernetes without a count":          {"JOB_COMPLETION_INDEX=2", "JOB_COMPLETION_INDEX is 2, but the number of shards is not known: set BULKCAT_SHARD_COUNT"},
		"AWS Batch":                           {"AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=10", "1/10"},
		"AWS Batch without a size":            {"AWS_BATCH_JOB_ARRAY_INDEX=0 BULKCAT_SHARD_COUNT=10", "1/10"},
		"Cloud Run":                           {"CLOUD_RUN_TASK_INDEX=9 CLOUD_RUN_TASK_COUNT=10", "10/10"},
		"two schedulers":                      {"CLOUD_RUN_TASK_INDEX=0 CLOUD_RUN_TASK_COUNT=1 JOB_COMPLETION_INDEX=1", "several schedulers (JOB_COMPLETION_INDEX, CLOUD_RUN_TASK_INDEX)"},
		"beyond the count":                    {"JOB_COMPLETION_INDEX=3 BULKCAT_SHARD_COUNT=3", "not one of 3 indexes from 0"},
		"no number":                           {"JOB_COMPLETION_INDEX=x BULKCAT_SHARD_COUNT=3", `JOB_COMPLETION_INDEX is "x", not a number`},
		"below 0":                             {"JOB_COMPLETION_INDEX=-1 BULKCAT_SHARD_COUNT=3", "not a number from 0"},
		"only a count":                        {"BULKCAT_SHARD_COUNT=3", "names no task of an array"},
		"empty":                               {"", "names no task of an array"},
	} {
		t.Run(name, func(t *testing.T) {
			environment := make(map[string]string)
			for _, pair := range strings.Fields(tt.environment) {
				name, value, _ := strings.Cut(pair, "=")
				environment[name] = value
			}
			s, err := ShardFromEnvironment(func(name string) string { return environment[name] })
			if got := s.String() + errorText(err); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// shardOf is the number of the shard that holds a record.
func shardOf(t *testing.T, kind client.Kind, count int, r reader.Record) int {
	t.Helper()
	found := 0
	for n := range count {
		o := Options{Kind: kind, Shard: record.Shard{Number: n + 1, Count: count}}
		if !o.splitter().holds(&r) {
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
	if record.SplitRule != "xxh64-site-1" {
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
		o := Options{Kind: client.Website, Shard: record.Shard{Number: n + 1, Count: count}}
		split := o.splitter()
		for i := range inputs {
			if split.holds(&reader.Record{Input: fmt.Sprintf("shop-%d.example.com", i)}) {
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

// TestShardLimits has the limits of a shard with and without a gateway.
func TestShardLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		shard   record.Shard
		usage   client.Usage
		reserve int64 // -1 for none

		rate, stated float64
		requests     int64
		left         string
	}{
		"no shard":            {record.Shard{}, client.Usage{Remaining: "1000"}, -1, 100, 50, 1000, "1000"},
		"without a gateway":   {record.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "1000"}, -1, 25, 12.5, 250, "250"},
		"with a reserve":      {record.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "1000"}, 200, 25, 12.5, 250, "400"},
		"less than a reserve": {record.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "100"}, 200, 25, 12.5, 250, "100"},
		"without a quota":     {record.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "unlimited"}, -1, 25, 12.5, 250, "unlimited"},
		"with a gateway":      {record.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "1000", Gateway: true}, -1, 100, 50, 250, "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(SessionOptions{
				Shard:  tt.shard,
				Output: OutputOptions{Path: "-"},
				Service: Service{
					Hosted: true, Rate: 50,
					Usage: func(context.Context) (client.Usage, error) { return tt.usage, nil },
				},
				Limits: limits.Options{Rate: 100, MaxRequests: 1000, KeepReserve: tt.reserve >= 0, Reserve: tt.reserve},
			})
			if err := s.quota.check(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			s.shareLimits()
			o := s.options
			if o.Limits.Rate != tt.rate || o.Service.Rate != tt.stated || o.Limits.MaxRequests != tt.requests || s.quota.usage.Remaining != tt.left {
				t.Errorf("rate %v, stated %v, requests %d, left %s", o.Limits.Rate, o.Service.Rate, o.Limits.MaxRequests, s.quota.usage.Remaining)
			}
		})
	}
}
