package runfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

func TestStatusIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv.status.json")
	for _, pid := range []int{1, 2} {
		if err := WriteStatus(path, account.Status{PID: pid}); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if err := WriteStatus(filepath.Join(dir, "none", "status.json"), account.Status{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}
