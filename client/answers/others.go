package answers

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostKnown is how many stores of a user are known: enough for projects, and few to look at.
const mostKnown = 20

// knownFile lists the stores that the user has used beside UserFile, the latest last, one on a line.
func knownFile() (string, error) {
	user, err := UserFile()
	return filepath.Join(filepath.Dir(user), "stores"), err
}

// Remember has [Known] return a store, an absolute path. It does nothing where there is no state folder of the user.
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
	_ = replace(name, strings.Join(known, "\n")+"\n") // the next run tries again; it also adds what another process has added meanwhile
}

// replace writes a file whole or not at all, unless the power fails.
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

// Known returns the stores of the user that are there: the latest that were remembered, and that of UserFile.
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

// known are the stores in the list that are still there.
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
