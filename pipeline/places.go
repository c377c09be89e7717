package pipeline

import (
	"path/filepath"
	"strings"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/places"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// A run writes several files and folders: places. No two places may be the same, under any name.

// checkPlaces finds places that clash. The errors are *places.ClashError and *OptionError.
func (o *Options) checkPlaces() error {
	if err := o.Output.CheckKind(); err != nil {
		return err
	}
	if o.Store.Path != "" && !o.isShard() {
		if err := answers.Check(o.Store.Path); err != nil {
			return &OptionError{Option: "Store.Path", Err: err}
		}
	}
	return places.CheckClashes(o.files(), nil)
}

// files returns the output, the files beside the output, and further files of the program.
func (o *Options) files() (list []places.Place) {
	add := func(what, path string) {
		if path != "" && !storage.IsURL(path) {
			list = append(list, places.Place{What: what, Path: filepath.Clean(path)})
		}
	}
	if output := o.Output.Path; output != "" && output != "-" {
		add("the output", output)
		add("the account", runfiles.AccountPath(output))
		add("the journal", runfiles.JournalPath(output))
		add("the status", runfiles.StatusPath(output))
		add("the copy of standard input", o.spoolPath())
	}
	for _, path := range o.storeFiles() {
		add("the store", path)
	}
	for _, path := range o.writes() {
		add("the file", path)
	}
	return list
}

func (o *Options) storeFiles() []string {
	stored, err := o.stored()
	if err != nil || stored.Path == "" { // opening the store reports the error
		return nil
	}
	return answers.Files(stored.Path)
}

// IsOutput reports whether a file or a folder is the output of a run or its account, for reader.Options.IsOutput. exists reports
// whether a path has a file or an object.
func IsOutput(path string, exists func(string) bool) bool {
	if output, found := strings.CutSuffix(path, ".run.json"); found && path == runfiles.AccountPath(output) {
		return exists(output) || exists(runfiles.ManifestPath(output))
	}
	return exists(runfiles.AccountPath(path)) || exists(runfiles.ManifestPath(path)) || exists(runfiles.ShardsPath(path))
}

// protect refuses to write files that the session reads.
func (o *Options) protect() error {
	var paths []string
	var opened []places.OpenFile
	for _, path := range o.Input.Paths {
		if path == "-" {
			opened = append(opened, places.RegularFile("standard input", o.Input.Stdin)...)
			continue
		}
		if storage.IsURL(path) {
			if err := places.ProtectObject(o.Output.Path, o.Output.IsFolder(), path); err != nil {
				return err
			}
			continue
		}
		if files, err := reader.Expand(path, IsOutput); err == nil { // opening the path reports the error
			paths = append(paths, files...)
		}
	}
	return o.targets().Protect(append(paths, o.Reads...), opened...)
}

// targets returns all places that the session writes.
func (o *Options) targets() places.Targets {
	var t places.Targets
	for _, place := range o.files() {
		t.Files = append(t.Files, place.Path)
	}
	if o.Output.Path == "-" {
		t.Opened = places.RegularFile("standard output", o.Output.Stdout)
	}
	if o.Output.Path != "" && o.Output.IsFolder() && !storage.IsURL(o.Output.Path) {
		t.Folders = append(t.Folders, o.Output.Path)
	}
	return t
}
