package statefolder

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestPath(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for _, tt := range []struct{ name, variable, want string }{
		{"named", state, filepath.Join(state, "bulkcat")},
		{"default", "", filepath.Join(home, ".local", "state", "bulkcat")},
		{"relative", "state", filepath.Join(home, ".local", "state", "bulkcat")},
	} {
		if tt.variable != state && runtime.GOOS != "linux" {
			continue
		}
		t.Setenv("XDG_STATE_HOME", tt.variable)
		if got, err := Path(); got != tt.want || err != nil {
			t.Errorf("%s: got %s, %v", tt.name, got, err)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	t.Setenv("XDG_STATE_HOME", "")
	for _, relative := range []string{"", "home"} {
		t.Setenv("HOME", relative)
		if got, err := Path(); got != "" || err == nil {
			t.Errorf("with the home %q: %s, %v", relative, got, err)
		}
	}
}

func TestMake(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	folder := filepath.Join(dir, "state", "bulkcat")
	for range 2 {
		if err := Make(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, ".probe"), nil, 0o600); err != nil { // of a process that was killed
			t.Fatal(err)
		}
	}
	if err := Make(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(folder); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info, err)
	}
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("there are %v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "file"))
	err := Make()
	if e, ok := errors.AsType[*Error](err); !ok || e.OptionName() != "answers.Path" {
		t.Errorf("got %v", err)
	}
}
