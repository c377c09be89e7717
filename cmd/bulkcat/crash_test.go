package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/crash/loop"
	"github.com/bulkcat/bulkcat/scripts/process"
)

var (
	kills = flag.Int("kills", 0, "TestKilledAnywhere kills `N` times, over all formats and over longer inputs; 0 for 75 times")
	seed  = flag.Uint64("seed", 1, "of inputs, orders, faults and moments, where programs are killed; 0 for another seed each time")
)

// TestKilledAnywhere kills this test binary, as bulkcat, 75 times. `make crash` does so
// 1,000 times. With -artifacts the folders of cycles that went wrong are kept.
func TestKilledAnywhere(t *testing.T) {
	bulkcat := selfAsBulkcat(t)
	for _, tt := range []struct {
		format      loop.Format
		kills       int // of the short form
		records     int
		part        int // of the kills of the long form, the divisor
		longRecords int
	}{
		{loop.CSV, 15, 150, 6, 400}, {loop.JSONL, 5, 150, 6, 400}, {loop.Parquet, 10, 150, 6, 400}, {loop.Folder, 20, 150, 6, 400},
		{loop.Shards, 5, 150, 6, 400}, {loop.Free, 20, 1200, 24, 1600}, // of fewer records the audit would ask all
	} {
		t.Run(string(tt.format), func(t *testing.T) {
			t.Parallel() // the tests mostly wait
			o := loop.Options{Bulkcat: bulkcat, Dir: t.ArtifactDir(), Format: tt.format, Kills: tt.kills, Records: tt.records, Seed: killSeed()}
			if *kills > 0 {
				o.Kills, o.Records = max(1, *kills/tt.part), tt.longRecords
			}
			report, err := loop.Run(t.Context(), o)
			t.Log(report.String())
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range report.Failures {
				t.Error(err)
			}
		})
	}
}

func killSeed() uint64 {
	if *seed == 0 {
		return uint64(time.Now().UnixNano())
	}
	return *seed
}

// selfAsBulkcat gives this test binary the name bulkcat: under that name TestMain runs the program.
func selfAsBulkcat(t *testing.T) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bulkcat := filepath.Join(t.TempDir(), "bulkcat")
	if err := os.Symlink(self, bulkcat); err != nil {
		t.Fatal(err)
	}
	return bulkcat
}

// bulkcatCommand is this test binary, as bulkcat, in a folder, with a service.
func bulkcatCommand(t *testing.T, dir, service string, args ...string) *exec.Cmd {
	cmd := exec.Command(selfAsBulkcat(t), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+service, "BULKCAT_API_KEY="+testKey, "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	return cmd
}

// start starts a command that ends with the test at the latest.
func start(t *testing.T, cmd *exec.Cmd) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), cmd, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantStatus waits for the end of a process.
func wantStatus(t *testing.T, p *process.Process, want int) {
	t.Helper()
	if got := p.Status(); got != want {
		t.Fatalf("exit status %d, want %d\n%s", got, want, p.Log())
	}
}
