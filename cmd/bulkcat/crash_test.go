package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/scripts/crash/loop"
)

// TestKilledAnywhere kills this test binary, as bulkcat, 50 times. `make crash` does so
// 1,000 times.
func TestKilledAnywhere(t *testing.T) {
	bulkcat := selfAsBulkcat(t)
	for _, tt := range []struct {
		format loop.Format
		kills  int
	}{{loop.CSV, 15}, {loop.JSONL, 5}, {loop.Parquet, 10}, {loop.Folder, 20}} {
		t.Run(string(tt.format), func(t *testing.T) {
			t.Parallel() // the tests mostly wait
			report, err := loop.Run(t.Context(), loop.Options{
				Bulkcat: bulkcat, Dir: t.TempDir(), Format: tt.format,
				Kills: tt.kills, Records: 150, Seed: 1,
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
