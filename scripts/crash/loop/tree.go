package loop

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

// tree has the files in a cycle's folder by path, without the store. The content of files with times and counts, which differ
// from run to run, is nil.
type tree map[string][]byte

// address matches the address of the service, which the column source has, and which differs from cycle to cycle.
var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// isOfStore reports whether a file belongs to the store of a cycle or a shard, or is the list of stores, whose paths differ.
func isOfStore(name string) bool {
	return strings.HasPrefix(name, storeName) || strings.HasPrefix(name, account.ShardStore) || strings.HasPrefix(strings.TrimPrefix(name, "."), "stores")
}

func readTree(dir string) (tree, error) {
	t := make(tree)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir(), isOfStore(filepath.Base(path)):
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		t[name] = nil
		if changing(name) {
			return nil
		}
		content, err := os.ReadFile(path)
		t[name] = address.ReplaceAll(content, []byte("http://service"))
		return err
	})
	return t, err
}

func changing(name string) bool {
	ends := []string{"run.json", "_manifest.json", "_shards.json"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// draft reports whether a path is hidden, as drafts are until they are published, and as the folder of a run is.
func draft(name string) bool { return strings.Contains("/"+filepath.ToSlash(name), "/.") }

// within returns the faults of the output of a killed run. want is the complete output. Files may be missing, and drafts may
// exist.
func (t tree) within(want tree) error {
	var errs []error
	for name, content := range t {
		whole, ok := want[name]
		switch {
		case draft(name):
		case !ok:
			errs = append(errs, fmt.Errorf("%s does not belong there", name))
		case !bytes.Equal(content, whole):
			errs = append(errs, fmt.Errorf("%s is not whole: %s", name, difference(content, whole)))
		case filepath.Base(name) == "_SUCCESS":
			below := filepath.Dir(name) + string(filepath.Separator)
			errs = append(errs, t.lacks(want, func(name string) bool {
				return strings.HasPrefix(name, below) && strings.HasPrefix(filepath.Base(name), "part-")
			}))
		}
	}
	return errors.Join(errs...)
}

// same returns the faults of a complete output, which has the files of want and no drafts.
func (t tree) same(want tree) error {
	errs := []error{t.within(want), t.lacks(want, func(string) bool { return true })}
	for name := range t {
		if draft(name) {
			errs = append(errs, fmt.Errorf("%s was left behind", name))
		}
	}
	return errors.Join(errs...)
}

func (t tree) lacks(want tree, which func(string) bool) error {
	var errs []error
	for name := range want {
		if _, ok := t[name]; !ok && which(name) {
			errs = append(errs, fmt.Errorf("%s is missing", name))
		}
	}
	return errors.Join(errs...)
}

// difference describes the first difference of two contents.
func difference(got, want []byte) string {
	n := 0
	for n < len(got) && n < len(want) && got[n] == want[n] {
		n++
	}
	return fmt.Sprintf("%d bytes instead of %d, different from byte %d on: %.60q instead of %.60q", len(got), len(want), n, got[n:], want[n:])
}
