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

// tempPrefix begins a temporary name in the RunFolder of the output.
const tempPrefix = "tmp-"

// TempName returns a new name "tmp-PID-RANDOM" in the RunFolder of path; ".NAME.tmp-PID-RANDOM" in the folder of path if path has
// no RunFolder, like the parts of a folder. The leading dots hide the file from globs and from engines that read folders.
func TempName(path string) string {
	unique := fmt.Sprintf("%d-%016x", os.Getpid(), rand.Uint64())
	if info, err := os.Lstat(RunFolder(path)); err == nil && info.IsDir() {
		return filepath.Join(RunFolder(path), tempPrefix+unique)
	}
	dir, name := filepath.Split(path)
	return filepath.Join(dir, "."+name+tempInfix+unique)
}

// ParseTemp returns the output's name from a result of TempName in the output's folder; ok is false for other names.
func ParseTemp(temp string) (name string, ok bool) {
	i := strings.LastIndex(temp, tempInfix)
	if i < 1 || temp[0] != '.' {
		return "", false
	}
	return temp[1:i], isUnique(temp[i+len(tempInfix):])
}

// isUnique reports whether a text is the end of a result of TempName.
func isUnique(text string) bool {
	owner, random, _ := strings.Cut(text, "-")
	pid, err := strconv.Atoi(owner)
	return err == nil && pid > 0 && len(random) == 16
}

// RunFolder returns the hidden folder ".NAME.run" beside an output, for the files that a run needs only while it goes on.
func RunFolder(output string) string {
	dir, name := filepath.Split(filepath.Clean(output))
	return filepath.Join(dir, "."+name+".run")
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
