package places

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestProtect names a file that is read as a file that is written, under several names.
func TestProtect(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"in.csv", "lists/in.csv", "other.csv"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	link := func(make func(old, name string) error, old, name string) {
		if err := make(old, name); err != nil {
			t.Skip("there are no links here:", err)
		}
	}
	link(os.Symlink, "in.csv", "symbolic.csv")
	link(os.Link, "in.csv", "hard.csv")
	link(os.Symlink, "lists", "linked")
	for name, tt := range map[string]struct {
		written, read string
		refused       bool
	}{
		"the same name":               {"in.csv", "in.csv", true},
		"an absolute name":            {filepath.Join(dir, "in.csv"), "in.csv", true},
		"a symbolic link":             {"symbolic.csv", "in.csv", true},
		"of a symbolic link":          {"in.csv", "symbolic.csv", true},
		"a hard link":                 {"hard.csv", "in.csv", true},
		"by a linked folder":          {"linked/in.csv", "lists/in.csv", true},
		"another file":                {"other.csv", "in.csv", false},
		"the same name elsewhere":     {"lists/in.csv", "in.csv", false},
		"a new file":                  {"new.csv", "in.csv", false},
		"no file":                     {"", "in.csv", false},
		"an object":                   {"s3://bucket/in.csv", "s3://bucket/in.csv", true},
		"an object of a folder":       {"s3://bucket/out/", "s3://bucket/out/in.csv", true},
		"a folder with the object":    {"s3://bucket/lists/out.csv", "s3://bucket/lists/", true},
		"an object of a pattern":      {"s3://bucket/lists/out.csv", "s3://bucket/lists/*.csv", true},
		"an object outside a pattern": {"s3://bucket/out.csv", "s3://bucket/lists/*.csv", false},
		"another bucket":              {"s3://other/in.csv", "s3://bucket/in.csv", false},
	} {
		err := Protect([]string{tt.written}, []string{tt.read})
		if _, refused := errors.AsType[*OverwriteError](err); refused != tt.refused || !refused && err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestTargets has inputs in a folder that is written, and files that the program was given open.
func TestTargets(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll("out/parts", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in.csv", "out/parts/in.csv"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link("in.csv", "out/link.csv"); err != nil {
		t.Skip("there are no links here:", err)
	}
	open, err := os.Open("in.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	for name, tt := range map[string]struct {
		targets Targets
		read    []string
		opened  []OpenFile
		refused bool
	}{
		"below a folder":           {targets: Targets{Folders: []string{"out"}}, read: []string{"out/parts/in.csv"}, refused: true},
		"linked into a folder":     {targets: Targets{Folders: []string{"out"}}, read: []string{"in.csv"}, refused: true},
		"not in a folder":          {targets: Targets{Folders: []string{"out/parts"}}, read: []string{"in.csv"}},
		"standard output":          {targets: Targets{Opened: RegularFile("standard output", open)}, read: []string{"in.csv"}, refused: true},
		"standard input":           {targets: Targets{Files: []string{"in.csv"}}, opened: RegularFile("standard input", open), refused: true},
		"a file that is not there": {targets: Targets{Files: []string{"in.csv"}}, read: []string{"none.csv"}},
	} {
		err := tt.targets.Protect(tt.read, tt.opened...)
		if _, refused := errors.AsType[*OverwriteError](err); refused != tt.refused || !refused && err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestIsWithin(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("out/parts", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("out", "link"); err != nil {
		t.Skip("there are no links here:", err)
	}
	for _, tt := range []struct {
		path, folder string
		want         bool
	}{
		{"out/new.csv", "out", true},
		{"out/parts/new.csv", "out", true},
		{"link/new.csv", "out", true},
		{"out/new.csv", "link", true},
		{"out", "out", false},
		{"output.csv", "out", false},
		{"none/new.csv", "none", true},
		{"none", "none", false},
	} {
		if got := IsWithin(tt.path, tt.folder); got != tt.want {
			t.Errorf("%s in %s: got %t", tt.path, tt.folder, got)
		}
	}
	if !IsSame("link/new.csv", "out/new.csv") || IsSame("out/new.csv", "new.csv") {
		t.Error("names of a new file by a link")
	}
}
