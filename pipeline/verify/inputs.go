package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// inputsOfAccount returns the paths of the run's inputs. An input that has changed since the run is a finding. The error says
// why the rows cannot be written again from the present inputs.
func (v *verification) inputsOfAccount(ctx context.Context) (paths []string, err error) {
	a := v.account
	if len(a.Settings.InputPaths) == 0 || slices.Contains(a.Settings.InputPaths, "-") {
		return nil, errors.New("the run has read standard input, or records in memory: name a file with the same records")
	}
	for _, in := range a.Inputs {
		if found, err := storage.Exists(ctx, runfiles.FromOutput(v.path, in.Path)); err == nil && !found {
			return nil, fmt.Errorf("%s is not there any more: name the input", in.Name)
		}
	}
	for _, path := range a.Settings.InputPaths {
		paths = append(paths, runfiles.FromOutput(v.path, path))
	}
	changed := runfiles.ChangedInputs(a, v.path)
	for _, name := range changed {
		v.findInput(name, "the bytes that the run has read", "others: the input has changed since the run")
	}
	grown := v.findGrown(ctx, changed)
	added := v.findAdded(paths)
	switch {
	case len(changed) > 0:
		return nil, fmt.Errorf("%s has changed since the run: name the input that it has read", changed[0])
	case len(grown) > 0 && grown[0] != a.Inputs[len(a.Inputs)-1].Name: // its new records come before those of the next file
		return nil, fmt.Errorf("%s has grown since the run: name the inputs that it has read", grown[0])
	case len(added) > 0:
		return nil, fmt.Errorf("%s has come since the run: name the inputs that it has read", added[0])
	}
	v.Run.Limit = a.Counts.Read + a.Counts.Others // reads the last input only as far as the run has read it
	return paths, nil
}

// findInput adds a finding about an input, once for all shards.
func (v *verification) findInput(name, expected, got string) {
	f := Finding{File: name, What: "input", Expected: expected, Got: got}
	if !slices.Contains(v.report.Findings, f) {
		v.report.add(f)
	}
}

// findGrown finds the inputs that the run has read to their ends, and whose size differs now. It leaves out changed inputs.
func (v *verification) findGrown(ctx context.Context, changed []string) (grown []string) {
	for _, in := range v.account.Inputs {
		if !in.Whole || slices.Contains(changed, in.Name) {
			continue
		}
		info, err := storage.Stat(ctx, runfiles.FromOutput(v.path, in.Path))
		if err == nil && info.Size() != in.Bytes { // opening the input reports the error
			v.findInput(in.Name, fmt.Sprintf("the %d bytes that the run has read", in.Bytes), fmt.Sprintf("%d: the input has grown since the run", info.Size()))
			grown = append(grown, in.Name)
		}
	}
	return grown
}

// findAdded finds the files of a glob or a folder that the run has not read. It returns nil if the run has not read its last
// file to the end: the files may have existed then.
func (v *verification) findAdded(paths []string) (added []string) {
	inputs := v.account.Inputs
	if len(inputs) == 0 || !inputs[len(inputs)-1].Whole {
		return nil
	}
	for _, path := range paths {
		files, err := reader.Expand(path, pipeline.IsOutput)
		if err != nil { // opening the path reports the error; objects are compared when they are read
			continue
		}
		for _, file := range files {
			seen := runfiles.SeenFrom(v.path, file)
			if !slices.ContainsFunc(inputs, func(in account.Input) bool { return in.Path == seen }) {
				v.findInput(file, "only files that the run has read", "another: the file has come since the run")
				added = append(added, file)
			}
		}
	}
	return added
}
