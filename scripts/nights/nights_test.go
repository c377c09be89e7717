package nights

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var (
	nights  = flag.Int("nights", 0, "how many nights to simulate; 0 for those of the short form")
	first   = flag.Uint64("first", 1, "the seed of the first night; the others follow")
	seeds   = flag.String("seeds", "", "the seeds of the nights, with commas, instead of the first ones")
	titles  = flag.Float64("titles", 20_000, "the most titles of a night")
	verbose = flag.Bool("talk", false, "print the log of each run")
	each    = flag.Bool("each", false, "print a line for each night")
)

// The short form has small lists.
const (
	shortNights = 50
	shortTitles = 1000
)

// mostMedian is the most time that half of the nights may take, in times of the ideal: it is 1.10 with small lists, of which
// the start is a large part, and 1.03 with long ones.
const mostMedian = 1.2

// played is a night with its outcome.
type played struct {
	*night
	outcome
}

func TestNights(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // little is kept
	if *nights == 0 && *seeds == "" {
		*nights, *titles = shortNights, shortTitles
	}
	var all []played
	for i := range *nights {
		all = append(all, played{night: draw(*first+uint64(i), *titles)})
	}
	for seed := range strings.FieldsFuncSeq(*seeds, func(r rune) bool { return r == ',' }) {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, played{night: draw(n, *titles)})
	}
	var group sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				t.Run(fmt.Sprint("seed=", all[i].seed), all[i].run)
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
	for _, p := range all {
		if *each {
			fmt.Printf("%.2f (%v of %v) refused %d of %d, outages %d; %s\n", p.ratio(), p.took, p.outcome.ideal, p.refused, p.sent, p.outages, p.name())
		}
	}
	if median := quantile(all, 0.5).ratio(); len(all) >= shortNights && median > mostMedian { // few may be bad ones
		t.Errorf("half of the nights take %.2f of the ideal time and more", median)
	}
	table("by the rate", all, (*night).mode)
	table("by the limiter", all, func(n *night) string { return n.limiter })
	table("by the share of faults", all, func(n *night) string {
		switch {
		case n.faults == 0:
			return "none"
		case n.faults < 0.03:
			return "up to 3%"
		}
		return "up to 6%"
	})
}

// run plays the night.
func (p *played) run(t *testing.T) {
	dir := folder(t)
	synctest.Test(t, func(t *testing.T) { p.outcome = p.play(t, dir) })
	for _, wrong := range p.wrong {
		t.Errorf("%s\n%s", wrong, p.name())
	}
}

// TestNamedNights plays nights that once took several times as long, or went wrong.
func TestNamedNights(t *testing.T) {
	for _, tt := range []struct {
		name   string
		seed   uint64
		titles float64
		most   float64 // times the ideal
	}{
		{"a burst fills the queue of a service with one worker", 24, 1000, 1.5},
		{"a stated window is shorter than the latency", 5010, 3000, 1.5},
		{"every other request is refused at a low rate", 5126, 3000, 6}, // the list is short, and each block lasts a minute
		{"a block begins while answers are slow", 1108, 20_000, 3},
		{"a start has only inputs that always fail", 1265, 20_000, 3},
		{"a start begins with the inputs that failed before", 2047, 20_000, 1.6},
		{"the end of a window of a second is stated in whole seconds", 2128, 20_000, 1.6},
		{"a sliding window states an end that moves", 2039, 20_000, 1.6},
		{"the rate is below a request a second", 243, 20_000, 1.6},
		{"the rate is little above a window's at a low rate", 160, 20_000, 1.15},
		{"late answers hide when a block began", 203, 20_000, 1.45},
		{"each start begins with inputs that hang for ever", 3001, 20_000, 1.3},
		{"requests that hang hold the only connection", 5243, 20_000, 1.6},
		{"requests that hang hold the only connection, for an hour", 5258, 20_000, 1.8},
		{"a window slides, and its silences are too short", 5098, 20_000, 1.35},
		{"a window counts refused requests at a low rate", 5127, 20_000, 1.32},
		{"only retries are left, and the rate is far too high", 3063, 20_000, 1.3},
		{"a start begins in a bad minute", 3035, 20_000, 1.3},
		{"a start ends before it has proved a rate", 3149, 20_000, 1.3},
		{"the service is out with 503", 3133, 20_000, 1.2},
		{"each start meets a block in a bad hour", 2226, 20_000, 2.2},
		{"a start begins in a bad minute, after refusals", 5281, 20_000, 1.3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := played{night: draw(tt.seed, tt.titles)}
			if p.run(t); p.ratio() > tt.most {
				t.Errorf("took %.2f of the ideal time, at most %v\n%s", p.ratio(), tt.most, p.night.name())
			}
		})
	}
}

// A client that knows everything gets no answers in an outage, also of a service whose requests wait for workers.
func TestIdealOfAnOutage(t *testing.T) {
	for _, workers := range []int{0, 3} {
		n := &night{workers: workers, latency: func(string, int) time.Duration { return 100 * time.Millisecond }, out: []span{{time.Second, time.Minute}}}
		for i := range 1000 {
			n.unique = append(n.unique, string(rune(i+1)))
		}
		if workers == 0 {
			n.rate = 30
		}
		if took := n.ideal(time.Now()); took < 59*time.Second+33*time.Second-longestWait-time.Second {
			t.Errorf("%d workers: %v", workers, took)
		}
	}
}

// folder is a folder in memory, if there is one: synthetic time needs no disk.
func folder(t *testing.T) string {
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "night")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// quantile is the night whose ratio a share of the nights does not exceed.
func quantile(nights []played, share float64) played {
	sorted := slices.SortedFunc(slices.Values(nights), func(a, b played) int { return cmp.Compare(a.ratio(), b.ratio()) })
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// table prints the nights in groups.
func table(title string, all []played, by func(*night) string) {
	groups := map[string][]played{}
	for _, p := range all {
		groups[by(p.night)] = append(groups[by(p.night)], p)
	}
	fmt.Printf("\n| %-24s | nights | median | 95%% | worst | its seed | refused, median | 95%% | false outages |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n", title)
	var names []string
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		group := groups[name]
		outages := 0
		var refused []float64
		for _, p := range group {
			outages += p.outages
			refused = append(refused, float64(p.refused)/max(1, float64(p.sent)))
		}
		slices.Sort(refused)
		worst := quantile(group, 1)
		fmt.Printf("| %-24s | %d | %.2f | %.2f | %.2f | %d | %.1f%% | %.1f%% | %d |\n", name, len(group), quantile(group, 0.5).ratio(), quantile(group, 0.95).ratio(), worst.ratio(), worst.seed,
			100*refused[len(refused)/2], 100*refused[min(len(refused)*95/100, len(refused)-1)], outages)
	}
}
