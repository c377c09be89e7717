package main

import "time"

// scale sets the lengths of measurements. The duration of an arm and the speed of the machine
// define its number of records.
type scale struct {
	rounds        int
	arm           time.Duration // of a bare loop without latency
	distantRounds int           // of arms with latency
	distantArm    time.Duration
	secureRounds  int           // of arms over TLS without latency
	secureArm     time.Duration // of a bare loop without latency and TLS; TLS takes longer for the same records
	paceRounds    int           // of a run that learns the rate
	titles        int           // records of an embedded run
	kept          time.Duration // of an arm with or without a store
	stored        time.Duration // of the requests that fill a store, whose records are then answered
	starts        int           // of the program for start-up time
}

var (
	// full takes under ten minutes on a slow machine. The start and the end of an arm take a
	// tenth of a second, which is some percent of an arm, and one percent with latency, where
	// the target allows a loss of two percent. Rates with latency hardly vary, so two rounds
	// are enough. Arms with and without a store are longer: their rates are close to each
	// other, and the first logs of a store cost the most.
	full = scale{
		rounds: 5, arm: 2500 * time.Millisecond, distantRounds: 2, distantArm: 10 * time.Second,
		secureRounds: 3, secureArm: 1500 * time.Millisecond, paceRounds: 3,
		titles: 150_000, kept: 5 * time.Second, stored: 12 * time.Second, starts: 21,
	}
	// short takes a minute or two; its ratios are less exact.
	short = scale{
		rounds: 2, arm: time.Second, distantRounds: 1, distantArm: 2 * time.Second,
		secureRounds: 1, secureArm: time.Second, paceRounds: 1,
		titles: 50_000, kept: time.Second, stored: 4 * time.Second, starts: 5,
	}
)

// recordsIn returns the number of records at a rate in a time, in whole hundreds.
func recordsIn(rate float64, d time.Duration) int {
	return max(100, int(rate*d.Seconds())/100*100)
}
