package servers

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/scripts/process"
)

var full = flag.Bool("full", false, "run all cases, not only the short ones (about half an hour)")

var (
	binary string // of bulkcat
	builds string // the folder of what the suite builds
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	var err error
	if builds, err = os.MkdirTemp("", "bulkcat-servers-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(builds)
	if binary, err = process.Build("BULKCAT", builds, filepath.Join("..", ".."), "./cmd/bulkcat"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := m.Run()
	if err := report.write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// A scenario is one named case, and one line of the report. Its test fills the line.
type scenario struct {
	name  string
	short bool // runs without -full
	test  func(*testing.T, *line)
}

// TestServers runs the scenarios one after the other: they compete for the processors.
func TestServers(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			if !s.short && !*full {
				t.Skip("runs with -full")
			}
			row := &line{name: s.name}
			defer func() { report.add(row, t.Skipped(), t.Failed()) }()
			s.test(t, row)
		})
	}
}

func scenarios() []scenario {
	var all []scenario
	for _, group := range [][]scenario{
		limits(), interruptions(), changes(), rates(), pairs(), speeds(), networks(),
		failures(), outages(), descriptors(), latencies(), caddies(),
	} {
		all = append(all, group...)
	}
	return all
}
