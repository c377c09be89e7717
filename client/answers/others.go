package answers

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostKnown is the most stores in the list: enough for a user's projects, and quick to check.
const mostKnown = 20

// knownFile returns the path of the list of the user's stores other than UserFile: one per line, the latest last.
func knownFile() (string, error) {
	user, err := UserFile()
	return filepath.Join(filepath.Dir(user), "stores"), err
}

// Remember adds a store, an absolute path, to the stores that [Known] returns. It does nothing if the user has no state folder.
func Remember(path string) {
	name, err := knownFile()
	if err != nil {
		return
	}
	known := known(name)
	if user, _ := UserFile(); path == user || slices.Contains(known, path) || strings.ContainsAny(path, "\r\n") {
		return
	}
	known = append(known, path)
	known = known[max(0, len(known)-mostKnown):]
	_ = replace(name, strings.Join(known, "\n")+"\n") // the next run tries again, also if another process has overwritten the list
}

// replace replaces a file atomically, except in a power failure.
func replace(name, text string) error {
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".stores-")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Known returns the user's stores that exist: the last mostKnown of Remember, then UserFile.
func Known() []string {
	name, err := knownFile()
	if err != nil {
		return nil
	}
	paths := known(name)
	if user, _ := UserFile(); IsStore(user) {
		paths = append(paths, user)
	}
	return paths
}

// known returns the stores in the list that exist.
func known(name string) []string {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	var paths []string
	for line := range bytes.Lines(text) {
		if path := strings.TrimSuffix(string(line), "\n"); filepath.IsAbs(path) && IsStore(path) {
			paths = append(paths, path)
		}
	}
	return paths
}
