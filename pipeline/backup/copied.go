package backup

import (
	"os"
	"path/filepath"
)

// HasCopy reports whether a store has been copied, and the copy may have answers that the store no longer has.
func HasCopy(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, identityName))
	return err == nil
}
