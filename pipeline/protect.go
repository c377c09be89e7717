package pipeline

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/reader"
)

// Targets are the places that a program writes.
type Targets struct {
	Files   []string   // that are written or replaced
	Folders []string   // in which files are written or replaced
	Opened  []OpenFile // that the program was given open, such as standard output
}

// OpenFile is an open file, whose path is not known.
type OpenFile struct {
	Name string // for messages
	Info fs.FileInfo
}

// OverwriteError says that a run would write over a file that it reads.
type OverwriteError struct {
	Input  string
	Target string // the place that is written; may be another name of the input
}

func (e *OverwriteError) Error() string {
	as := ""
	if e.Target != e.Input {
		as = " as " + e.Target
	}
	return fmt.Sprintf("%s is read by this run, which would write over it%s: choose another output", e.Input, as)
}

// protect refuses to write where the session reads.
func (o *SessionOptions) protect() error {
	var paths []string
	var opened []OpenFile
	for _, path := range o.Input.Paths {
		if path == "-" {
			opened = append(opened, openFile("standard input", o.Input.Stdin)...)
			continue
		}
		if files, err := reader.Expand(path); err == nil { // to open the path gives the error
			paths = append(paths, files...)
		}
	}
	return o.targets().Protect(append(paths, o.Reads...), opened...)
}

// targets are all places that the session writes.
func (o *SessionOptions) targets() Targets {
	t := Targets{Files: append([]string{o.spoolPath()}, o.Writes...)}
	if stored, ok := o.stored(); ok {
		t.Folders = stored.Folders()
	}
	switch {
	case o.Output.Path == "-":
		t.Opened = openFile("standard output", o.Output.Stdout)
	case o.Output.Path != "":
		t.Files = append(t.Files, o.Output.Path, AccountPath(o.Output.Path))
	}
	if o.Output.Path != "" && o.Output.folder() {
		t.Folders = append(t.Folders, o.Output.Path)
	}
	return t
}

// openFile is the regular file that the shell has opened for a stream, if there is one.
func openFile(name string, stream any) []OpenFile {
	file, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return []OpenFile{{Name: name, Info: info}}
}

// Protect makes sure that no input is a target, under any name, or lies in a target folder. In opened are
// inputs that the program was given open. The error is an *OverwriteError.
func (t Targets) Protect(inputs []string, opened ...OpenFile) error {
	targets := t.existing()
	for _, file := range opened {
		if err := protect(file.Name, file.Info, targets); err != nil {
			return err
		}
	}
	for _, input := range inputs {
		info, err := os.Stat(input)
		if err != nil {
			continue // to open the input gives the error
		}
		if err := protect(input, info, targets); err != nil {
			return err
		}
		if err := t.protectWithin(input); err != nil {
			return err
		}
	}
	return nil
}

func protect(input string, info fs.FileInfo, targets []OpenFile) error {
	for _, target := range targets {
		if os.SameFile(info, target.Info) {
			return &OverwriteError{Input: input, Target: target.Name}
		}
	}
	return nil
}

// protectWithin looks for a target among the folders above an input.
func (t Targets) protectWithin(input string) error {
	path, err := filepath.EvalSymlinks(input)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil // to open the input gives the error
	}
	var above []OpenFile
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			above = append(above, OpenFile{dir, info})
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, folder := range t.Folders {
		if info, err := os.Stat(folder); err == nil && protect(input, info, above) != nil {
			return &OverwriteError{Input: input, Target: folder}
		}
	}
	return nil
}

// existing gives the targets that exist, and the files in target folders: one may be a link to an input.
func (t Targets) existing() []OpenFile {
	found := slices.Clone(t.Opened)
	add := func(name string) {
		if info, err := os.Stat(strings.TrimRight(name, "/")); err == nil {
			found = append(found, OpenFile{name, info})
		}
	}
	for _, name := range t.Files {
		add(name)
	}
	for _, folder := range t.Folders {
		add(folder)
		entries, _ := os.ReadDir(folder) // none if the folder does not exist
		for _, e := range entries {
			add(filepath.Join(folder, e.Name()))
		}
	}
	return found
}
