package main

import "time"

// scale is how much is measured. Arms are given in time, and the number of their records
// by what the machine does in it.
type scale struct {
	rounds        int
	arm           time.Duration // of a bare loop that is answered at once
	distantRounds int           // of arms with latency
	distantArm    time.Duration
	secureRounds  int           // of arms over TLS without latency
	secureArm     time.Duration // of a bare loop that is answered at once, without TLS; TLS takes longer for its records
	paceRounds    int           // of a run that learns the rate
	titles        int           // records of an embedded run
	kept          time.Duration // of an arm with or without a store
	stored        time.Duration // of asking, to fill a store
	answered      int           // records of a run over stored answers
	starts        int           // of a program that does next to nothing
	benchTime     time.Duration // of one Go benchmark
	benchCount    int
}

var (
	// full keeps the table under ten minutes on a slow machine. An arm lasts long enough
	// that its start and its end, a tenth of a second, are some percent of it; with
	// latency, where two percent are all that may be lost, one. Two rounds of those are
	// enough, as their rates hardly differ from round to round. With and without a store
	// they are longer, as both sides are close together, and a store's first logs,
	// which the next ones are made of, cost the most.
	full = scale{
		rounds: 5, arm: 2500 * time.Millisecond, distantRounds: 2, distantArm: 10 * time.Second,
		secureRounds: 3, secureArm: 1500 * time.Millisecond, paceRounds: 3,
		titles: 150_000, kept: 5 * time.Second, stored: 10 * time.Second, answered: 500_000, starts: 21,
		benchTime: 300 * time.Millisecond, benchCount: 3,
	}
	// short takes a minute or two: its ratios suffer from the shortness of its arms.
	short = scale{
		rounds: 2, arm: time.Second, distantRounds: 1, distantArm: 2 * time.Second,
		secureRounds: 1, secureArm: time.Second, paceRounds: 1,
		titles: 50_000, kept: time.Second, stored: 3 * time.Second, answered: 200_000, starts: 5,
		benchTime: 50 * time.Millisecond, benchCount: 1,
	}
)

// recordsIn gives the records that a rate makes in a time, in whole hundreds.
func recordsIn(rate float64, d time.Duration) int {
	return max(100, int(rate*d.Seconds())/100*100)
}
