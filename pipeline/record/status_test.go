package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestStatusIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv.status.json")
	for _, pid := range []int{1, 2} {
		if err := (Status{PID: pid}).Write(path); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if err := (Status{}).Write(filepath.Join(dir, "none", "status.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}
