package main

import "github.com/bulkcat/bulkcat/scripts/bench/report"

// loopOfTheTargets is the rate of the bare loop, in records a second, on the machine on which the
// targets of work without requests were set. Speeds vary between machines and over time, so these
// targets are also stated as multiples of the rate of the loop beside them.
const loopOfTheTargets = 41_000

// addTarget adds a row with rates a second, and a row with multiples of the loop's rates in the
// same rounds.
func addTarget(t *report.Table, name string, rate, loop report.Sample, target float64) {
	t.AddClaim(name, report.Claim{Sample: rate, Unit: report.PerSecond, Bound: report.AtLeast(target)})
	t.AddClaim("the same, of what the bare loop asks beside it on one core", report.Claim{
		Sample: report.Ratios(rate, loop), Unit: report.Ratio, Bound: report.AtLeast(target / loopOfTheTargets),
	})
}
