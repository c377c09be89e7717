package main

import "github.com/bulkcat/bulkcat/scripts/bench/report"

// measurements are those of an arm's rounds.
type measurements struct {
	rate  report.Sample // records a second
	cpu   report.Sample // seconds a record
	peak  report.Sample // bytes
	calls report.Sample // reads and writes a record
}

func (t *measurements) add(e effort, records int) {
	n := float64(records)
	t.rate = append(t.rate, n/e.wall.Seconds())
	t.cpu = append(t.cpu, e.cpu.Seconds()/n)
	t.peak = append(t.peak, float64(e.peak))
	t.calls = append(t.calls, float64(e.calls)/n)
}
