package main

import "github.com/bulkcat/bulkcat/scripts/bench/report"

// What is wanted of work that asks nobody was set on a machine whose bare loop does this
// many records a second. A machine's speed varies by the hour, and by more from one to the
// next, so that the same is wanted as a multiple of the loop beside it.
const loopOfTheMarks = 41_000

// addMarked adds rates a second, and them as multiples of the loop's in the same rounds.
func addMarked(t *report.Table, name string, rate, loop report.Sample, mark float64) {
	t.AddClaim(name, report.Claim{Sample: rate, Unit: report.PerSecond, Bound: report.AtLeast(mark)})
	t.AddClaim("the same, of what the bare loop asks beside it on one core", report.Claim{
		Sample: report.Ratios(rate, loop), Unit: report.Ratio, Bound: report.AtLeast(mark / loopOfTheMarks),
	})
}
