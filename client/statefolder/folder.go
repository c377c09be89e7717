// Package statefolder finds the folder of the user for files that last from run to run: the user's store of answers, and the
// files of runs that cannot be beside their outputs.
package statefolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Path returns the path of the folder, which may not exist yet: bulkcat in XDG_STATE_HOME (XDG Base Directory Specification). The
// default of XDG_STATE_HOME is ~/.local/state; on macOS and Windows it is the user's folder for application data. The error is an
// *Error.
func Path() (string, error) {
	base, err := stateHome()
	if err != nil {
		return "", &Error{err}
	}
	return filepath.Join(base, "bulkcat"), nil
}

func stateHome() (string, error) {
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

// Make makes the folder, with access for the user only, and checks that files can be made in it. The error is an *Error.
func Make() error {
	folder, err := Path()
	if err != nil {
		return err
	}
	if err = os.MkdirAll(folder, 0o700); err == nil {
		err = probe(folder)
	}
	if err != nil {
		return &Error{err}
	}
	return nil
}

// probe makes a file and removes it. The file always has the same name, so that a process that is killed here leaves at most one
// file, which the next process removes.
func probe(folder string) error {
	path := filepath.Join(folder, ".probe")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = file.Close()
	_ = os.Remove(path) // another process may have removed it
	return err
}

// Error says that the folder cannot be used.
type Error struct{ Err error }

func (e *Error) Error() string {
	return fmt.Sprintf("answers are kept in the state folder of the user, which cannot be used: %v: choose another file", e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// OptionName returns "answers.Path", the option that chooses another place for answers.
func (e *Error) OptionName() string { return "answers.Path" }
