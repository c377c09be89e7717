package writer

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// deadPID is above the largest process number of Linux.
const deadPID = 1 << 23

// publish syncs the file before the rename, and the folder after it.
func TestPublishOrder(t *testing.T) {
	fsys := new(faultFS)
	dir := t.TempDir()
	if err := disk.PublishIn(t.Context(), fsys, filepath.Join(dir, "out.json"), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	temp := strings.TrimPrefix(fsys.log[1], "create ")
	want := []string{
		"readdir " + dir, "create " + temp, "stat " + filepath.Join(dir, "out.json"), "write " + filepath.Join(dir, "out.json"), "sync " + temp, "stat " + temp, "close " + temp,
		"stat " + filepath.Join(dir, "out.json"), "rename " + filepath.Join(dir, "out.json"), "syncdir " + dir,
	}
	if !slices.Equal(fsys.log, want) {
		t.Errorf("got\n%q, want\n%q", fsys.log, want)
	}
}

// A new output has the permissions of the file that it replaces.
func TestReplacedFileKeepsItsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permissions here")
	}
	for _, mode := range []os.FileMode{0o600, 0o640, 0o666} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out.csv")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		sink := mustOpen(t, Options{Path: path})
		drafts, err := filepath.Glob(filepath.Join(dir, ".*"))
		if err != nil || len(drafts) != 1 {
			t.Fatalf("the drafts are %v, %v", drafts, err)
		}
		checkMode(t, drafts[0], mode)
		if _, err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		checkMode(t, path, mode)
	}
}

func checkMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != want {
		t.Errorf("%s has the mode %v, want %v", filepath.Base(path), got, want)
	}
}

// The drafts of killed processes are removed, even if a live process has the number of a killed process.
func TestStaleDrafts(t *testing.T) {
	temp := func(name string, pid int) string { return fmt.Sprintf(".%s.tmp-%d-0123456789abcdef", name, pid) }
	stale := []string{temp("out.csv", deadPID), temp("out.csv", os.Getpid()), temp("out.csv", os.Getppid())}
	kept := []string{
		temp("other.csv", deadPID),            // of another output
		temp("part-00001.csv", deadPID),       // of a part of a folder
		".out.csv.tmp-12-short",               // not a result of disk.TempName
		".out.csv.tmp--5-0123456789abcdef",    // not a result of disk.TempName
		"out.csv.tmp-8388608-123456789abcdef", // not a result of disk.TempName
	}
	dir := t.TempDir()
	for _, name := range slices.Concat(stale, kept) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sink := mustOpen(t, Options{Path: filepath.Join(dir, "out.csv")})
	if err := sink.Abort(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(kept)
	if got := keys(readTree(t, dir)); !slices.Equal(got, kept) {
		t.Errorf("there are\n%q, want\n%q", got, kept)
	}
}
