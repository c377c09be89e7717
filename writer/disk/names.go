package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tempInfix separates the name of the output from the PID in a temporary name.
const tempInfix = ".tmp-"

// TempName returns a new name ".NAME.tmp-PID-RANDOM" in the folder of path. The leading dot hides the file from globs
// and from engines that read folders.
func TempName(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, fmt.Sprintf(".%s%s%d-%016x", name, tempInfix, os.Getpid(), rand.Uint64()))
}

// ParseTemp returns the name of the output of a temporary name; false if temp is not a result of TempName.
func ParseTemp(temp string) (name string, ok bool) {
	i := strings.LastIndex(temp, tempInfix)
	if i < 1 || temp[0] != '.' {
		return "", false
	}
	owner, random, _ := strings.Cut(temp[i+len(tempInfix):], "-")
	pid, err := strconv.Atoi(owner)
	return temp[1:i], err == nil && pid > 0 && len(random) == 16
}

// SyncDir makes the names of the files in a folder durable, if the system supports it.
func SyncDir(name string) error {
	dir, err := os.Open(name)
	if err == nil {
		err = cmp.Or(dir.Sync(), dir.Close())
	}
	// Folders cannot be synced on Windows, on some network file systems, and without permission to read.
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
