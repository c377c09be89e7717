package answers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// UserFile returns the path of the user's store, which may not exist yet: bulkcat/answers.db in XDG_STATE_HOME (XDG Base
// Directory Specification). The default of XDG_STATE_HOME is ~/.local/state; on macOS and Windows it is the user's folder for
// application data. The error is a *StateError.
func UserFile() (string, error) {
	base, err := stateFolder()
	if err != nil {
		return "", &StateError{Err: err}
	}
	return filepath.Join(base, "bulkcat", "answers.db"), nil
}

func stateFolder() (string, error) {
	if base := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(base) { // the specification ignores relative paths
		return base, nil
	}
	switch runtime.GOOS {
	case "darwin", "ios":
		return os.UserConfigDir()
	case "windows":
		return os.UserCacheDir() // %LocalAppData%: for all local data, not only caches
	}
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = errors.New("$HOME is not an absolute path")
	}
	return filepath.Join(home, ".local", "state"), err
}

// CheckUserFile makes the folder of the user's store, with access for the user only, and checks that files can be made in it.
// The error is a *StateError.
func CheckUserFile(path string) error {
	folder := filepath.Dir(path)
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = probe(folder)
	}
	if err != nil {
		return &StateError{Err: err}
	}
	return nil
}

func probe(folder string) error {
	file, err := os.CreateTemp(folder, ".probe-")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// StateError says that the user's state folder cannot be used for answers.
type StateError struct{ Err error }

func (e *StateError) Error() string {
	return fmt.Sprintf("answers are kept in the state folder of the user, which cannot be used: %v: choose another file", e.Err)
}

func (e *StateError) Unwrap() error { return e.Err }

// OptionName returns "answers.Path".
func (e *StateError) OptionName() string { return "answers.Path" }

// networkOf returns the name of the network file system of a path, which need not exist; "" for a local file system. Tests
// replace it.
var networkOf = func(path string) string {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
			return systemOf(folder)
		}
	}
}
