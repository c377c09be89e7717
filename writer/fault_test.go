package writer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// faultRows are enough for several writes to the disk, and for three parts.
var (
	faultSchema = Schema{Form: Form{Levels: 2}}
	faultRows   = flattenAll(faultSchema, typicalResults(400))
)

// run writes faultRows, and stops at the first error as a run does.
func run(storage disk.Storage, o Options) (Published, error) {
	o.Storage = storage
	sink, err := Open(context.Background(), o)
	if err != nil {
		return Published{}, err
	}
	defer sink.Abort()
	for rows := faultRows; len(rows) > 0; rows = rows[min(150, len(rows)):] {
		if err := sink.Write(rows[:min(150, len(rows))]); err != nil {
			if again := sink.Write(rows[:1]); again != err {
				return Published{}, fmt.Errorf("after %w the next write returned %v", err, again)
			}
			break // Close must return the error again
		}
	}
	return sink.Close()
}

// Each operation of a run fails in each way. The files under their final names are then whole, old or new; errors are
// returned; and no draft stays.
func TestFaults(t *testing.T) {
	targets := map[string]Options{
		"out.csv":     {},
		"out.parquet": {},
		"new":         {Folder: true, Format: JSONL, PartRows: 450},
		"parts":       {Folder: true, Format: CSV, PartRows: 450},
	}
	for name, o := range targets {
		o.Schema = faultSchema
		for _, fault := range faults {
			t.Run(name+"/"+fault.name, func(t *testing.T) {
				t.Parallel() // the tests wait for the disk
				failEach(t, name, o, fault.fault)
			})
		}
	}
}

func failEach(t *testing.T, name string, o Options, fault faultFS) {
	clean := t.TempDir()
	o.Path = filepath.Join(clean, name)
	if _, err := run(new(faultFS), o); err != nil {
		t.Fatal(err)
	}
	complete := readTree(t, clean)
	for n := 1; ; n++ {
		dir := t.TempDir()
		old := oldOutput(t, dir, name)
		o.Path = filepath.Join(dir, name)
		fsys := fault
		fsys.failAt = n
		_, err := run(&fsys, o)
		if fsys.failed == "" {
			if err != nil || n < 8 {
				t.Errorf("no operation failed up to %d, but the run ended with %v", n, err)
			}
			return
		}
		fsys.failed = strings.ReplaceAll(fsys.failed, dir, "")
		checkAfterFault(t, &fsys, err, readTree(t, dir), old, complete)
		checkRecovery(t, o, fsys.failed, complete)
	}
}

// oldOutput writes an output of an earlier run under name, and returns all files in dir.
func oldOutput(t *testing.T, dir, name string) map[string]string {
	t.Helper()
	files := map[string]string{name: "old"}
	switch name {
	case "new":
		files = nil
	case "parts":
		files = map[string]string{
			"parts/_SUCCESS": "", "parts/part-00001.csv": "old 1", "parts/part-00002.csv": "old 2",
			"parts/part-00009.csv": "old 9", "parts/part-00001.jsonl": "old", "parts/notes.csv": "not ours",
		}
	}
	for file, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// checkAfterFault compares the files with those before the run and those of a successful run.
func checkAfterFault(t *testing.T, fsys *faultFS, err error, got, old, complete map[string]string) {
	t.Helper()
	var typed *disk.Error
	switch {
	case err == nil && !fsys.bestEffort():
		t.Errorf("%s: no error", fsys.failed)
	case err != nil && (!errors.As(err, &typed) || strings.Contains(err.Error(), ".tmp-")):
		t.Errorf("%s: the error %v is not an *Error, or it names a temporary file", fsys.failed, err)
	}
	for file, data := range got {
		if strings.Contains(file, ".tmp-") {
			if !fsys.onward && !fsys.bestEffort() {
				t.Errorf("%s: %s is left behind", fsys.failed, file)
			}
			delete(got, file)
			continue
		}
		before, wasThere := old[file]
		if (!wasThere || data != before) && data != complete[file] {
			t.Errorf("%s: %s is neither what it was nor what it should be", fsys.failed, file)
		}
	}
	untouched := maps.Equal(got, old)
	delete(got, "parts/notes.csv")
	_, success := got["parts/"+SuccessName]
	if (err == nil || success && !untouched) && !maps.Equal(got, complete) {
		t.Errorf("%s: the output counts as complete, but there are only %v", fsys.failed, keys(got))
	}
}

// checkRecovery runs again without faults: the output is complete and has no leftovers of the first run.
func checkRecovery(t *testing.T, o Options, failed string, complete map[string]string) {
	t.Helper()
	if _, err := run(new(faultFS), o); err != nil {
		t.Fatalf("%s: the next run ended with %v", failed, err)
	}
	got := readTree(t, filepath.Dir(o.Path))
	delete(got, "parts/notes.csv")
	if !maps.Equal(got, complete) {
		t.Errorf("%s: after the next run there are %v", failed, keys(got))
	}
}

// readTree returns the content of all files below dir by slash-separated name.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, relErr := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func keys(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

func TestPublishFileFaults(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			for n := 1; ; n++ {
				path := filepath.Join(t.TempDir(), "out.run.json")
				if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
					t.Fatal(err)
				}
				fsys := fault.fault
				fsys.failAt = n
				err := disk.PublishIn(t.Context(), &fsys, path, []byte("new"))
				if fsys.failed == "" {
					break
				}
				if err == nil && !fsys.bestEffort() {
					t.Errorf("%s: no error", fsys.failed)
				}
				data, readErr := os.ReadFile(path)
				if text := string(data); readErr != nil || (text != "old" && text != "new") {
					t.Errorf("%s: the file holds %q, %v", fsys.failed, text, readErr)
				}
			}
		})
	}
}
