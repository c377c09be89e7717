package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// parseMillions returns the numbers of records in the given order.
func parseMillions(text string) ([]int, error) {
	var sizes []int
	for part := range strings.SplitSeq(text, ",") {
		m, err := strconv.ParseFloat(part, 64)
		if err != nil || !(m >= 1e-4 && m <= 1000) { // NaN is neither
			return nil, fmt.Errorf("%q must be a number of millions, up to 1000", part)
		}
		sizes = append(sizes, int(m*1e6))
	}
	return sizes, nil
}

// growth measures time and memory as inputs grow, of a run that asks for all records, and of a second run, whose answers are
// stored. Then it compares the last size with the first size.
func (r *rig) growth(ctx context.Context, sizes []int) ([]*table, error) {
	server, err := r.serve(ctx, clienttest.Lean{})
	if err != nil {
		return nil, err
	}
	defer server.close()
	figures := &table{
		title: "As inputs grow (hosted, to parquet, at 0 ms, 256 in flight)",
		head:  []string{"duplicates", "answered before", "records", "time", "seconds a million", "peak memory", "store"},
	}
	var names []string
	all := make(map[string]*measurements) // of all sizes
	for _, records := range sizes {
		for _, duplicates := range []int{0, 50} {
			a := arm{url: server.url, cores: clientCore, inFlight: inFlight[1], format: "parquet", input: input{client.Website, records, duplicates}, store: r.output("answers")}
			for _, answered := range []string{"no", "yes"} {
				e, err := r.run(ctx, a)
				if err != nil {
					return nil, err
				}
				stored, err := os.Stat(a.store)
				if err != nil {
					return nil, err
				}
				name := fmt.Sprintf("%d%% duplicates, answered before: %s", duplicates, answered)
				if all[name] == nil {
					names, all[name] = append(names, name), new(measurements)
				}
				all[name].add(e, records)
				took, million := seconds.format(e.wall.Seconds()), seconds.format(e.wall.Seconds()/float64(records)*1e6)
				r.say("%d records, %s: %s, %s", records, name, took, mebibytes.format(float64(e.peak))) // a table takes hours
				figures.add(fmt.Sprintf("%d%%", duplicates), answered, count.format(float64(records)), took, million,
					mebibytes.format(float64(e.peak)), mebibytes.format(float64(stored.Size())))
			}
			if err := os.RemoveAll(a.store); err != nil {
				return nil, err
			}
		}
	}
	n := len(sizes) - 1
	first, last := count.format(float64(sizes[0])), count.format(float64(sizes[n]))
	claims := newClaims("At " + last + " records, beside " + first)
	asked := all[names[0]]
	claims.addClaim("peak memory, "+names[0]+", of that at "+first, claim{sample{asked.peak[n] / asked.peak[0]}, ratio, atMost(1.1)})
	claims.addClaim("peak memory, "+names[0], claim{sample{asked.peak[n]}, mebibytes, atMost(200 << 20)})
	for _, name := range names {
		claims.addClaim("time a record, "+name+", of that at "+first, claim{sample{all[name].rate[0] / all[name].rate[n]}, ratio, bound{}})
	}
	return []*table{figures, claims}, nil
}
