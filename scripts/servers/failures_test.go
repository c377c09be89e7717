package servers

import (
	"hash/crc32"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// direct is a plan without nginx: bulkcat asks the service over plain HTTP.
func direct(records int, options clienttest.Options, atMost time.Duration) plan {
	return plan{records: records, service: options, atMost: atMost, warnings: 3}
}

// passing is a plan in which a share of the inputs fails its first n requests.
func passing(records int, share float64, n int) plan {
	options := ordinary
	options.Fails = transient(share, n)
	return direct(records, options, 20*time.Second)
}

// transient is for Options.Fails: a share of the inputs fails its first n requests, with typical faults in turn. The
// first fault of an input depends on the input.
func transient(share float64, n int) func(string, int) clienttest.Fault {
	faults := []clienttest.Fault{clienttest.Error500, clienttest.Error503, clienttest.Reset, clienttest.HTML}
	return func(input string, attempt int) clienttest.Fault {
		sum := crc32.ChecksumIEEE([]byte(input))
		if attempt > n || float64(sum>>8%10_000) >= share*10_000 {
			return ""
		}
		return faults[(int(sum%4)+attempt)%len(faults)]
	}
}

// lasting is a plan in which one input of so many fails whenever it is asked.
func lasting(records, every int, hangs bool) plan {
	failing := func(input string) bool { return number(input)%every == every/2 }
	p, fault := direct(records, ordinary, time.Minute), clienttest.Error500
	if hangs {
		fault = clienttest.Hang
		p.atMost, p.flags = 90*time.Second, []string{"--timeout", "2s"}
	}
	p.service.Fails = func(input string, _ int) clienttest.Fault {
		if failing(input) {
			return fault
		}
		return ""
	}
	p.failing, p.exit = failing, 3
	return p
}

// number returns the digits of an input or of its URL as a number.
func number(input string) int {
	n := 0
	for _, c := range input {
		if c >= '0' && c <= '9' {
			n = 10*n + int(c-'0')
		}
	}
	return n
}

func failures() []scenario {
	return []scenario{
		{"G1 9% of the inputs fail twice", false, of(passing(3000, 0.09, 2))},
		{"G1s 9% of the inputs fail twice, 1,000 records", true, of(passing(1000, 0.09, 2))},
		{"G2 2% of the inputs fail three times", false, of(passing(3000, 0.02, 3))},
		{"G3 200,000 records, 2% fail three times", false, manyFail},
		{"H1 1% always get 500", false, of(lasting(3000, 100, false))},
		{"H2 1% always time out", false, of(lasting(3000, 100, true))},
		{"H3 5 of 500 always get 500", false, of(lasting(500, 100, false))},
	}
}

// manyFail compares a run with passing failures with a run without, at no latency.
func manyFail(t *testing.T, row *line) {
	const records = 200_000
	sound := perform(t, row, direct(records, clienttest.Options{}, 0))
	p := direct(records, clienttest.Options{Fails: transient(0.02, 3)}, sound.Took*3/2)
	p.ideal = sound.Took
	perform(t, row, p)
}
