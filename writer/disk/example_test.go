package disk_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// A lock excludes other writers of an output.
func ExampleTryLock() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "out.csv")

	lock, err := disk.TryLock(path)
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Release()
	_, err = disk.TryLock(path)
	var busy *disk.BusyError
	fmt.Println(errors.As(err, &busy))
	// Output: true
}
