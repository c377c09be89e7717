package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCreateFile has many writers of one file at the same time: one creates it, and no draft is left.
func TestCreateFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "_shards.json")
	var creators atomic.Int64
	var writers sync.WaitGroup
	for i := range 32 {
		writers.Go(func() {
			created, err := CreateFile(path, fmt.Appendf(nil, "of writer %02d", i))
			if err != nil {
				t.Error(err)
			}
			if created {
				creators.Add(int64(i) + 100)
			}
		})
	}
	writers.Wait()
	creator := creators.Load() - 100
	if text, err := os.ReadFile(path); err != nil || string(text) != fmt.Sprintf("of writer %02d", creator) {
		t.Errorf("the file has %q, %v; %d has created it", text, err, creator)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	_, err := CreateFile(filepath.Join(dir, "none", "file"), nil)
	if _, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the folder: %v", err)
	}
}
