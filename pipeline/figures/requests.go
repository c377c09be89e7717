package figures

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

// Part is a count with its name and its share of the sum.
type Part struct {
	Name  string
	N     int64
	Share float64
}

// Outcomes are the counts of requests by outcome: answers first, then by falling count.
func Outcomes(counts map[string]int64) (list []Part) {
	sum := Sum(maps.Values(counts))
	for name, n := range counts {
		list = append(list, Part{name, n, Share(n, sum)})
	}
	slices.SortFunc(list, func(a, b Part) int {
		answered := func(p Part) int { return map[bool]int{true: 0, false: 1}[p.Class() == "s0"] }
		return cmp.Or(cmp.Compare(answered(a), answered(b)), cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// classes are the CSS classes of outcomes of requests. All other outcomes have class s7.
var classes = map[string]string{
	"answered": "s0", "200": "s0", "429": "s1", "503": "s2", "404": "s3", "timeout": "s4", "500": "s5", "no response": "s6",
}

// Class is the CSS class of an outcome.
func (p Part) Class() string { return cmp.Or(classes[p.Name], "s7") }

// Sum is the sum of counts.
func Sum(counts iter.Seq[int64]) (sum int64) {
	for n := range counts {
		sum += n
	}
	return sum
}

// Bins are the counts of equal parts of the span from 0 to 1, with the bounds in a format; nil if all counts are 0.
func Bins(counts []int64, format string) (list []Part) {
	sum := Sum(slices.Values(counts))
	for i, n := range counts {
		if of := float64(len(counts)); sum > 0 {
			list = append(list, Part{fmt.Sprintf(format+" to "+format, float64(i)/of, float64(i+1)/of), n, Share(n, sum)})
		}
	}
	return list
}

// Interval is a part of the time of a run, with what has happened in it.
type Interval struct {
	Time   time.Duration
	Counts map[string]int64 // of requests, by outcome
	Waited map[account.State]time.Duration
}

// shortest is the shortest time with a meaningful rate.
const shortest = 50 * time.Millisecond

// rate returns a count of the interval per second; 0 for an interval shorter than shortest.
func (i Interval) rate(n int64) float64 {
	if i.Time < shortest {
		return 0
	}
	return float64(n) / i.Time.Seconds()
}

var waitNames = map[account.State]string{
	account.Congested: "congested", account.Limited: "limited", account.Outage: "outage", account.QuotaPause: "waiting for quota",
}

// Requests returns the chart of the requests per second by outcome, with bands where the run has waited. The legend has the
// totals.
func Requests(list []Interval, totals map[string]int64) Chart {
	c := Chart{Title: "Requests", Unit: "a second, by outcome", Suffix: "/s", Columns: []string{"total", "share"}}
	all, passed := time.Duration(0), time.Duration(0)
	for _, i := range list {
		all += i.Time
	}
	waited := make(map[account.State]time.Duration)
	for k, i := range list {
		if k == 0 {
			c.X = append(c.X, 0)
		}
		passed += i.Time
		c.X = append(c.X, passed.Seconds()/all.Seconds())
		for _, state := range account.Waits {
			if d := i.Waited[state]; d > 0 {
				waited[state] += d
				c.addBand(Band{Class: string(state), From: c.X[k], To: c.X[k+1], Share: min(1, d.Seconds()/i.Time.Seconds())})
			}
		}
	}
	for _, state := range account.Waits {
		if d := waited[state]; d > 0 {
			c.Key = append(c.Key, Note{string(state), waitNames[state] + " " + Duration(d)})
		}
	}
	for _, o := range Outcomes(totals) {
		line := Line{Name: o.Name, Class: o.Class(), Area: true, Cells: []string{Count(o.N), Percent(o.Share)}}
		for _, i := range list {
			line.Values = append(line.Values, i.rate(i.Counts[o.Name]))
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// addBand adds a band. If the last band ends where b begins and both are wholly in the same state, it extends the last band
// instead.
func (c *Chart) addBand(b Band) {
	if n := len(c.Bands); n > 0 && c.Bands[n-1].Class == b.Class && c.Bands[n-1].To == b.From && min(b.Share, c.Bands[n-1].Share) > 0.99 {
		c.Bands[n-1].To = b.To
		return
	}
	c.Bands = append(c.Bands, b)
}
