package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/places"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// A run writes several files and folders: places. None may be another, under any name, and none may be within the folder
// of a store, or of a copy of a store.

// ClashError says that two places of a run are one, or that one is within the other.
type ClashError struct {
	What, Path   string // such as "the report"
	Other, There string
	Within       bool
}

func (e *ClashError) Error() string {
	relation := "the same as"
	if e.Within {
		relation = "in"
	}
	return fmt.Sprintf("%s %s is %s %s %s: choose another place", e.What, e.Path, relation, e.Other, e.There)
}

// place is a file or a folder of this machine that a run writes.
type place struct{ what, path string }

// checkPlaces finds places that clash. The errors are *ClashError, *OptionError and *answers.ForeignError.
func (o *SessionOptions) checkPlaces() error {
	if err := o.Output.checkKind(); err != nil {
		return err
	}
	if o.Store.Dir != "" && o.Shard == (record.Shard{}) {
		if err := answers.CheckFolder(o.Store.Dir); err != nil {
			return &OptionError{"Store.Dir", err}
		}
	}
	stores, copies := o.stores()
	all := append(append(o.files(), stores...), copies...)
	for i, a := range all {
		for _, store := range stores {
			if a != store && places.IsWithin(a.path, store.path) {
				return &ClashError{a.what, a.path, store.what, store.path, true}
			}
		}
		for _, b := range all[:i] {
			if a != b && places.IsSame(a.path, b.path) {
				return &ClashError{What: b.what, Path: b.path, Other: a.what, There: a.path}
			}
		}
	}
	return nil
}

// checkKind wants a folder where the path ends as that of a folder.
func (o *OutputOptions) checkKind() error {
	if storage.IsURL(o.Path) || !strings.HasSuffix(o.Path, "/") {
		return nil
	}
	if info, err := os.Stat(filepath.Clean(o.Path)); err == nil && !info.IsDir() {
		return &OptionError{"Output.Path", fmt.Errorf("%s is a file, and the / at the end asks for a folder: leave the / out, or choose another name", filepath.Clean(o.Path))}
	}
	return nil
}

// stores are the stores that the run may write to, and the copies of these.
func (o *SessionOptions) stores() (stores, copies []place) {
	if stored, ok := o.stored(); ok {
		for _, dir := range stored.Folders() {
			if dir != "" {
				stores = append(stores, place{"the store", dir})
			}
		}
	}
	if output := o.Output.Path; output != "" && output != "-" && !storage.IsURL(output) {
		for _, dir := range []string{filepath.Clean(output), filepath.Dir(filepath.Clean(output))} {
			if answers.IsStore(dir) {
				stores = append(stores, place{"the store", dir}) // of another run
			}
		}
	}
	if o.Store.Backup != "" && !storage.IsURL(o.Store.Backup) {
		copies = append(copies, place{"the copy of the store", o.backupPlace()})
	}
	return stores, copies
}

// files are the output and the files beside it, and further files of the program.
func (o *SessionOptions) files() (list []place) {
	add := func(what, path string) {
		if path != "" && !storage.IsURL(path) {
			list = append(list, place{what, filepath.Clean(path)})
		}
	}
	if output := o.Output.Path; output != "" && output != "-" {
		add("the output", output)
		add("the account", record.AccountPath(output))
		add("the journal", record.JournalPath(output))
		add("the status", record.StatusPath(output))
		add("the copy of standard input", o.spoolPath())
	}
	for _, path := range o.Writes {
		add("the file", path)
	}
	return list
}

// protect refuses to write where the session reads.
func (o *SessionOptions) protect() error {
	var paths []string
	var opened []places.OpenFile
	for _, path := range o.Input.Paths {
		if path == "-" {
			opened = append(opened, places.RegularFile("standard input", o.Input.Stdin)...)
			continue
		}
		if storage.IsURL(path) {
			if err := places.ProtectObject(o.Output.Path, o.Output.folder(), path); err != nil {
				return err
			}
			continue
		}
		if files, err := reader.Expand(path, nil); err == nil { // to open the path gives the error
			paths = append(paths, files...)
		}
	}
	return o.targets().Protect(append(paths, o.Reads...), opened...)
}

// targets are all places that the session writes.
func (o *SessionOptions) targets() places.Targets {
	t := places.Targets{Files: append([]string{o.spoolPath()}, o.Writes...)}
	if stored, ok := o.stored(); ok {
		t.Folders = stored.Folders()
	}
	switch {
	case o.Output.Path == "-":
		t.Opened = places.RegularFile("standard output", o.Output.Stdout)
	case o.Output.Path != "":
		t.Files = append(t.Files, storage.Local(o.Output.Path), record.AccountPath(o.Output.Path), record.JournalPath(o.Output.Path), record.StatusPath(o.Output.Path))
	}
	if o.Output.Path != "" && o.Output.folder() && !storage.IsURL(o.Output.Path) {
		t.Folders = append(t.Folders, o.Output.Path)
	}
	return t
}
