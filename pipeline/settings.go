package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
)

// SameRun says whether two accounts are of one run, started twice.
func (a *Account) SameRun(last *Account) bool {
	return len(a.changes(last.Service, last.Settings)) == 0
}

// TakenBy is the error of an output that the run of the last account has written, which is not this one;
// nil if it is.
func (a *Account) TakenBy(last *Account, output string) error {
	if changes := a.changes(last.Service, last.Settings); len(changes) > 0 {
		return takenBy(output, changes)
	}
	return nil
}

func takenBy(output string, changes []string) error {
	return &OutputTakenError{Path: output, Reason: "was written by another run (" + strings.Join(changes, "; ") + ")"}
}

// Run names the run: equal for accounts of one run, and for no others.
func (a *Account) Run() string {
	settings := a.Settings
	settings.Output = ""
	if settings.InputPaths != nil {
		settings.Inputs = nil
	}
	text, err := json.Marshal(struct {
		Service  string
		Settings Settings
	}{a.Service, settings})
	if err != nil {
		return "" // cannot happen: strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// changes tells in words in what this run differs from an earlier one whose account or manifest lies at
// the same output. How the output was named does not matter then.
func (a *Account) changes(service string, last Settings) []string {
	var changes []string
	tell := func(name string, then, now any) {
		if !reflect.DeepEqual(then, now) {
			changes = append(changes, fmt.Sprintf("%s was %s and is %s", name, shown(then), shown(now)))
		}
	}
	tell("the service", service, a.Service)
	then, now := reflect.ValueOf(last), reflect.ValueOf(a.Settings)
	for i := range then.NumField() {
		name, _, _ := strings.Cut(then.Type().Field(i).Tag.Get("json"), ",")
		switch name {
		case "output", "input_paths":
		case "inputs":
			if last.InputPaths == nil || a.Settings.InputPaths == nil {
				tell("the input", last.Inputs, a.Settings.Inputs)
			} else {
				tell("the input", last.InputPaths, a.Settings.InputPaths)
			}
		case "kind":
			tell("the command", last.Kind, a.Settings.Kind)
		default:
			tell("--"+strings.ReplaceAll(name, "_", "-"), then.Field(i).Interface(), now.Field(i).Interface())
		}
	}
	return changes
}

// shown is a setting's value in words.
func shown(value any) string {
	if list, ok := value.([]string); ok {
		value = strings.Join(list, ", ")
	}
	if value == "" {
		return "not given"
	}
	return fmt.Sprint(value)
}

// SeenFrom gives a path as seen from the folder that an output lies in. So a file is the same whether its
// name is relative or absolute, and stays the same when the folder moves with all that is in it.
func SeenFrom(output, path string) string {
	if path == "-" {
		return path
	}
	path = resolved(path)
	if seen, err := filepath.Rel(filepath.Dir(resolved(output)), path); err == nil {
		return filepath.ToSlash(seen)
	}
	return filepath.ToSlash(path) // on another drive
}

// resolved is the absolute path of a file, in a folder without symbolic links as far as that is there.
func resolved(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path))
	}
	return path
}
