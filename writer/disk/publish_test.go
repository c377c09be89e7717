package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestPublishFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.run.json")
	for _, data := range []string{"first", "", "second"} {
		if err := PublishFile(path, []byte(data)); err != nil {
			t.Fatal(err)
		}
		entries, dirErr := os.ReadDir(dir)
		if got, err := os.ReadFile(path); err != nil || dirErr != nil || len(entries) != 1 || string(got) != data {
			t.Errorf("there are %v with %q, want %q in out.run.json: %v, %v", entries, got, data, err, dirErr)
		}
	}
}

// The permissions of outputs are those of the umask, although the outputs were temporary files.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := PublishFile(filepath.Join(dir, "published"), nil); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(filepath.Join(dir, "published"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Mode() != want.Mode() {
		t.Errorf("the mode is %v, want %v", got.Mode(), want.Mode())
	}
}

func TestPublishFromFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := PublishFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("failed")
	err := PublishFrom(path, func(out io.Writer) error {
		_, err := io.WriteString(out, "new")
		return errors.Join(err, failure)
	})
	if data, _ := os.ReadFile(path); !errors.Is(err, failure) || string(data) != "old" {
		t.Errorf("the file is %q, and the error %v", data, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// A file that another program writes while the draft is written is not replaced.
func TestChangedMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before string // the content when the draft is created; "" for no file
		change func(path string) error
		want   error
	}{
		{"nothing happens", "old", func(string) error { return nil }, nil},
		{"nothing happens, without a file", "", func(string) error { return nil }, nil},
		{"it appears", "", func(path string) error { return os.WriteFile(path, []byte("mine"), 0o666) }, ErrChanged},
		{"it grows", "old", func(path string) error { return os.WriteFile(path, []byte("mine and more"), 0o666) }, ErrChanged},
		{"it is replaced", "old", func(path string) error { return ReplaceFile(path, []byte("new")) }, ErrChanged},
		{"it is removed", "old", os.Remove, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.csv")
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			d, err := Local{}.Create(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Discard()
			if _, err := d.Write([]byte("rows")); err != nil {
				t.Fatal(err)
			}
			if err := tt.change(path); err != nil {
				t.Fatal(err)
			}
			if err := d.Publish(4); !errors.Is(err, tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
