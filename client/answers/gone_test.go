package answers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoreIsRemoved takes the folder of an open store away: the next commit says so, promises
// nothing, and so does all after it.
func TestStoreIsRemoved(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+".old") },
		"its files removed": func(dir string) error {
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			for _, file := range files {
				err = errors.Join(err, os.Remove(file))
			}
			return err
		},
		"begun anew": func(dir string) error {
			if err := os.Rename(dir, dir+".old"); err != nil {
				return err
			}
			return os.CopyFS(dir, os.DirFS(dir+".new"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			closed(t, open(t, Options{Dir: dir + ".new"}))
			s := open(t, Options{Dir: dir})
			if err := tryCommit(s, 0); err != nil {
				t.Fatal(err)
			}
			if err := remove(dir); err != nil {
				t.Fatal(err)
			}
			err := tryCommit(s, 1)
			gone, ok := errors.AsType[*GoneError](err)
			if !ok || gone.Dir != dir || strings.Contains(err.Error(), "are kept") {
				t.Fatalf("the commit returns %v", err)
			}
			_, _, lookup := s.Lookup(request)
			for call, err := range map[string]error{"commit": tryCommit(s, 2), "lookup": lookup, "rate": s.KeepLearnedRate(1), "close": s.Close()} {
				if !errors.Is(err, gone) {
					t.Errorf("%s then returns %v", call, err)
				}
			}
		})
	}
}
