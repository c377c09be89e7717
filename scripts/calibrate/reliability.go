package main

import (
	"fmt"
	"io"
)

// printReliability prints a line for the first entries and a line for the others: the mean
// confidence and the share right, then for every tenth of confidence the same two and the share
// of all samples.
func printReliability(out io.Writer, title string, c calibration, sets [][]entry) {
	for _, part := range []struct {
		name string
		has  func(rank int) bool
	}{
		{"first", func(rank int) bool { return rank == 0 }},
		{"others", func(rank int) bool { return rank > 0 }},
	} {
		var n, right, sum [10]float64
		for _, set := range sets {
			for _, e := range set {
				if !part.has(e.rank) {
					continue
				}
				p := c.probability(e.evidence)
				tenth := min(int(p*10), 9)
				n[tenth] += e.weight
				sum[tenth] += e.weight * p
				right[tenth] += e.weight * zeroOrOne(e.right)
			}
		}
		fmt.Fprintf(out, "  %-9s %-6s  %.3f>%.3f:", title, part.name, total(sum)/total(n), total(right)/total(n))
		for i := range n {
			if n[i] > 0 {
				fmt.Fprintf(out, "  %.2f>%.2f (%.2f)", sum[i]/n[i], right[i]/n[i], n[i]/float64(len(sets)))
			}
		}
		fmt.Fprintln(out)
	}
}

func total(parts [10]float64) (sum float64) {
	for _, part := range parts {
		sum += part
	}
	return sum
}
