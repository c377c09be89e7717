package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/places"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// jobFiles are the files of the jobs of a job file, as far as they are known before the first job begins.
type jobFiles struct {
	written map[string]jobFile // by the resolved path
	stdin   int                // the number of the job that reads standard input; 0 for none
}

// jobFile is a file or a folder that a job writes.
type jobFile struct {
	path string
	job  int // its number
}

// add adds the files of the next job. errs are about files that several jobs use, and missing is about an input that does not
// exist.
func (f *jobFiles) add(j *job) (errs []error, missing error) {
	for _, path := range j.flags.input.Paths {
		if j.flags.Output.Path == "" && !isPath(path) { // the operand is an input: see takeDirect
			continue
		}
		if path == "-" {
			if f.stdin > 0 {
				errs = append(errs, fmt.Errorf("the jobs %d and %d both read standard input, which can be read only once", f.stdin, j.number))
			}
			f.stdin = cmp.Or(f.stdin, j.number)
			continue
		}
		missing = cmp.Or(missing, f.checkInput(path))
	}
	if f.written == nil {
		f.written = make(map[string]jobFile)
	}
	for _, path := range []string{j.flags.Output.Path, j.flags.report, j.flags.Requests} {
		if path == "" || path == "-" {
			continue
		}
		path = disk.Clean(path)
		place := path
		if !storage.IsURL(path) {
			place = storage.Resolved(path)
		}
		if other, found := f.written[place]; found {
			errs = append(errs, fmt.Errorf("the jobs %d and %d both write %s", other.job, j.number, path))
			continue
		}
		f.written[place] = jobFile{path, j.number}
	}
	return errs, missing
}

// checkInput returns an error for an input that does not exist and that no earlier job writes. It does not check objects.
func (f *jobFiles) checkInput(path string) error {
	if storage.IsURL(path) {
		return nil
	}
	files, err := reader.Expand(path, pipeline.IsOutput)
	for _, file := range files {
		if _, statErr := os.Stat(file); statErr != nil {
			err = &reader.OpenError{Path: file, Err: statErr}
			break
		}
	}
	if err == nil {
		return nil
	}
	for _, w := range f.written {
		if places.IsSame(path, w.path) || places.IsWithin(path, w.path) {
			return nil
		}
	}
	return fmt.Errorf("input: %w", err)
}
