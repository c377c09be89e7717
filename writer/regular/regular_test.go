//go:build unix

package regular

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(at("file"), []byte("text"), 0o666))
	must(os.Symlink("file", at("link")))
	must(os.Symlink("nowhere", at("dangling")))
	must(os.Symlink("/dev/zero", at("zeros")))
	must(syscall.Mkfifo(at("pipe"), 0o666))
	must(os.Mkdir(at("folder"), 0o777))
	for name, want := range map[string]struct{ open, own string }{ // errors; "" for none
		"file":      {"", ""},
		"link":      {"", "is a link"},
		"dangling":  {"no such file", "is a link"},
		"zeros":     {"is a device", "is a link"},
		"/dev/zero": {"is a device", "is a device"},
		"pipe":      {"is a pipe", "is a pipe"},
		"folder":    {"is a folder", "is a folder"},
		"new":       {"no such file", ""},
	} {
		path := at(name)
		if filepath.IsAbs(name) {
			path = name
		}
		_, err := Read(path, 10)
		expect(t, "read "+name, err, want.open)
		f, err := OpenOwn(path, os.O_RDWR|os.O_CREATE)
		if err == nil {
			err = f.Close()
		}
		expect(t, "own "+name, err, want.own)
	}
	if _, err := os.Stat(at("nowhere")); err == nil {
		t.Error("the target of a link was created")
	}
}

func TestBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(path, 5); err != nil || string(text) != "12345" {
		t.Errorf("got %q, %v", text, err)
	}
	if _, ok := errors.AsType[*TooLargeError](second(Read(path, 4))); !ok {
		t.Error("a file over the bound was read")
	}
}

func second(_ []byte, err error) error { return err }

func expect(t *testing.T, name string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %q", name, err, want)
	}
}

func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	_, err := ReadPipe(ended, path, 9)
	expect(t, "nobody writes", err, "pipe: interrupted")
	if !IsPipe(path) || IsPipe(filepath.Dir(path)) || IsPipe(path+"2") {
		t.Error("IsPipe is wrong")
	}
}
