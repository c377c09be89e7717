package limiters

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

var full = flag.Bool("full", false, "run bulkcat against all limiters (a quarter of an hour)")

// learned is how long a run may learn what a limiter allows, before refusals count.
const learned = 30 * time.Second

// binary is bulkcat's path, and tools is the folder of what is installed with pip and npm.
var binary, tools = os.Getenv("BULKCAT"), os.Getenv("LIMITERS")

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if err := table.write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// TestLimiters runs the cases, as many at the same time as -parallel says: they mostly wait.
func TestLimiters(t *testing.T) {
	if !*full {
		t.Skip("runs with -full")
	}
	if binary == "" || tools == "" {
		t.Fatal("BULKCAT and LIMITERS are not set: run make limiters")
	}
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			row := &line{name: c.name, ideal: seconds(c.ideal)}
			defer func() {
				row.skipped = t.Skipped()
				table.add(row)
				t.Log(row)
			}()
			c.perform(t, row)
		})
	}
}

// perform runs bulkcat against the limiter, fills the line and compares it with the marks.
func (c limiter) perform(t *testing.T, row *line) {
	s := run.Service(t, clienttest.Options{Latency: c.latency()})
	records, baseURL := record(t, c.start(t, s))
	time.Sleep(c.phase.wait(time.Now()))
	dir := t.ArtifactDir()
	options := run.Options{
		Binary: binary, Dir: dir, BaseURL: baseURL, Inputs: run.Inputs("r", c.records), Flags: c.flags,
	}
	if c.killed > 0 {
		options.Deadline = c.killed
		run.Start(t, options).Wait(t)
	}
	options.Deadline = 3*c.ideal + 10*time.Second
	result := run.Start(t, options).Wait(t)
	records.write(t, filepath.Join(dir, "requests.csv"))
	c.compare(t, row, result, records)
}
