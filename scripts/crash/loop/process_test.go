package loop

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEndings starts scripts instead of bulkcat, which end in every way.
func TestEndings(t *testing.T) {
	tests := []struct {
		name, script string
		moment       moment
		want         ending
		err          string
	}{
		{"complete", "exit 0", never, ending{status: 0}, ""},
		{"complete without some answers", "exit 3", never, ending{status: 3}, ""},
		{"failed", "echo out of luck >&2; exit 1", never, ending{status: 1}, "out of luck"},
		{"killed by us", "while :; do :; done", after(0), ending{killed: true, status: -1}, ""},
		{"ended by another signal", "kill -SEGV $$", never, ending{status: -1}, "segmentation fault"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			script := filepath.Join(dir, "bulkcat")
			if err := os.WriteFile(script, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o777); err != nil {
				t.Fatal(err)
			}
			got, err := start(t.Context(), script, dir, nil, nil, "http://127.0.0.1:1", tt.moment)
			got.duration = 0
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			checkError(t, "start", err, tt.err)
		})
	}
}
