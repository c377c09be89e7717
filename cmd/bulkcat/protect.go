package main

import (
	"os"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/reader"
)

// protectInputs refuses to write where the run reads. It is called before anything is written.
func (f *runFlags) protectInputs() error {
	var paths []string
	var opened []pipeline.OpenFile
	for _, path := range f.input.Paths {
		if path == "-" {
			opened = append(opened, openFile("standard input", f.streams.in)...)
			continue
		}
		if files, err := reader.Expand(path); err == nil { // to open it says what is wrong
			paths = append(paths, files...)
		}
	}
	paths = append(paths, f.service.files()...)
	return f.targets().Protect(paths, opened...)
}

// targets are all places that the run writes.
func (f *runFlags) targets() pipeline.Targets {
	t := pipeline.Targets{Files: []string{f.profiling.cpu, f.profiling.memory, f.profiling.trace, f.spoolPath()}}
	if stored, ok := f.store.options(f.output.path, ""); ok {
		t.Folders = stored.Folders()
	}
	switch {
	case f.output.path == "-":
		t.Opened = openFile("standard output", f.streams.out)
	case f.output.path != "":
		t.Files = append(t.Files, f.output.path, f.output.accountPath())
	}
	if f.output.path != "" && f.output.folder() {
		t.Folders = append(t.Folders, f.output.path)
	}
	return t
}

// files are all files that the flags have the service's client, or the embedded service, read.
func (f *serviceFlags) files() []string {
	return append(f.taxonomies.files(), f.apiKeyFile, f.headerFile, f.caFile, f.profilePath)
}

// openFile is the file, if it is one, that the shell has opened a stream for.
func openFile(name string, stream any) []pipeline.OpenFile {
	file, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return []pipeline.OpenFile{{Name: name, Info: info}}
}
