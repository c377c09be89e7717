package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bulkcat/bulkcat/client/answers"
)

// The latest stores that are still there are known, whatever the order in which processes add them.
func TestKnownStores(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	user, err := answers.UserFile()
	if err != nil {
		t.Skip(err)
	}
	if known := knownStores(); len(known) != 0 {
		t.Errorf("got %q of nothing", known)
	}
	folder := t.TempDir()
	add := func(path string) string {
		store, err := answers.Open(answers.Options{Path: path, Source: "any"})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		rememberStore(path)
		return path
	}
	first := add(filepath.Join(folder, "first.db"))
	second := add(filepath.Join(folder, "second.db"))
	add(first)
	if err := os.MkdirAll(filepath.Dir(user), 0o700); err != nil {
		t.Fatal(err)
	}
	add(user)
	if got := knownStores(); !slices.Equal(got, []string{first, second, user}) {
		t.Errorf("got %q", got)
	}
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	if got := knownStores(); !slices.Equal(got, []string{first, user}) {
		t.Errorf("got %q", got)
	}
	for i := range mostKnown {
		add(filepath.Join(folder, fmt.Sprint(i)+".db"))
	}
	if got := knownStores(); len(got) != mostKnown+1 || slices.Contains(got, first) {
		t.Errorf("got %q", got)
	}
}
