package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/scripts/crash/loop"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// TestKilledAnywhere kills this test binary, as bulkcat, 70 times. `make crash` does so
// 1,000 times.
func TestKilledAnywhere(t *testing.T) {
	bulkcat := selfAsBulkcat(t)
	for _, tt := range []struct {
		format  loop.Format
		kills   int
		records int
	}{{loop.CSV, 15, 150}, {loop.JSONL, 5, 150}, {loop.Parquet, 10, 150}, {loop.Folder, 20, 150}, {loop.Free, 20, 1200}} {
		t.Run(string(tt.format), func(t *testing.T) {
			t.Parallel() // the tests mostly wait
			report, err := loop.Run(t.Context(), loop.Options{
				Bulkcat: bulkcat, Dir: t.TempDir(), Format: tt.format,
				Kills: tt.kills, Records: tt.records, Seed: 1,
			})
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
	cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+service, "BULKCAT_API_KEY="+testKey)
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
