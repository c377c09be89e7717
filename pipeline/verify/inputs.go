package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// takeInputs sets the input of Run to that of the account. Each file that has changed since the run is a finding. The error says
// why the rows cannot be written again from the present files.
func (v *verification) takeInputs(ctx context.Context) (err error) {
	a, read := v.account, &v.Run.Input
	if paths := a.Settings.InputPaths; len(paths) == 0 || slices.Contains(paths, "-") {
		return errors.New("the run has read standard input, or records in memory: name a file with the same records")
	}
	differs := func(name, expected, got string, blocks bool) {
		v.add(Finding{File: name, What: "input", Expected: expected, Got: got + " since the run"})
		if blocks && err == nil {
			err = fmt.Errorf("the input has changed since the run (%s): name the input that it has read", name)
		}
	}
	changed := runfiles.ChangedInputs(a, v.path)
	for i, in := range a.Inputs {
		info, failed := storage.Stat(ctx, runfiles.FromOutput(v.path, in.Path)) // opening the input reports other errors
		switch {
		case errors.Is(failed, fs.ErrNotExist):
			return fmt.Errorf("%s is not there any more: name the input", in.Name)
		case slices.Contains(changed, in.Name):
			differs(in.Name, "the bytes that the run has read", "others: the input has changed", true)
		case failed == nil && in.Whole && info.Size() != in.Bytes:
			isLast := i == len(a.Inputs)-1 // else its new records come before those of the next file
			differs(in.Name, fmt.Sprintf("the %d bytes that the run has read", in.Bytes), fmt.Sprintf("%d: the input has grown", info.Size()), !isLast)
		}
	}
	isWhole := len(a.Inputs) > 0 && a.Inputs[len(a.Inputs)-1].Whole // else files that the run has not read may have existed then
	for _, path := range a.Settings.InputPaths {
		path = runfiles.FromOutput(v.path, path)
		read.Paths = append(read.Paths, path)
		files, failed := reader.Expand(path, pipeline.IsOutput)
		if failed != nil || !isWhole { // opening the path reports the error; objects are compared when they are read
			continue
		}
		for _, file := range files {
			seen := runfiles.SeenFrom(v.path, file)
			if !slices.ContainsFunc(a.Inputs, func(in account.Input) bool { return in.Path == seen }) {
				differs(file, "only files that the run has read", "another: the file has come", true)
			}
		}
	}
	v.Run.Limit = a.Counts.Read + a.Counts.Others // reads the last input only as far as the run has read it
	return err
}
