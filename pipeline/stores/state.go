package stores

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// StateFolder returns the folder of the user in which runs without an output folder share a store. It is
// XDG_STATE_HOME/bulkcat, by default ~/.local/state/bulkcat (XDG Base Directory Specification), and on macOS and Windows
// the folder in which programs keep their data. The folder may be missing.
func StateFolder() (string, error) {
	var base string
	var err error
	switch runtime.GOOS {
	case "darwin", "ios":
		base, err = os.UserConfigDir()
	case "windows":
		base, err = os.UserCacheDir() // %LocalAppData%, which is not for caches only
	default:
		base, err = xdgState()
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(base, "bulkcat"), nil
}

func xdgState() (string, error) {
	if base := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(base) { // the specification has relative paths ignored
		return base, nil
	}
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = errors.New("$HOME is not an absolute path")
	}
	return filepath.Join(home, ".local", "state"), err
}

// MakeStateFolder makes the folder of StateFolder, for the user alone; if writing, files can be made in it. The error is
// a *StateError.
func MakeStateFolder(writing bool) error {
	folder, err := StateFolder()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil && writing {
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

// StateError says that answers cannot be kept in the state folder of the user.
type StateError struct{ Err error }

func (e *StateError) Error() string {
	return fmt.Sprintf("the answers of a run whose output is a stream are kept in the state folder of the user, which cannot be used: %v: choose another folder", e.Err)
}

func (e *StateError) Unwrap() error { return e.Err }

// OptionName returns "answers.Dir".
func (e *StateError) OptionName() string { return "answers.Dir" }
