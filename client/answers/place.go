package answers

import (
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/client/statefolder"
)

// UserFile returns the path of the user's store, which may not exist yet. The error is a *statefolder.Error.
func UserFile() (string, error) {
	folder, err := statefolder.Path()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "answers.db"), nil
}

// networkOf returns the name of the network file system of a path, which need not exist; "" for a local file system. Tests
// replace it.
var networkOf = func(path string) string {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
			return systemOf(folder)
		}
	}
}
