package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestImportsPointOneWay checks which of our folders each folder imports. A folder may always import itself and the
// folders below; package client imports no public package of its own folder, so that its API names no other.
func TestImportsPointOneWay(t *testing.T) {
	const module = "github.com/bulkcat/bulkcat/"
	allowed := map[string][]string{
		"reader":   {},
		"client":   {},
		"writer":   {},
		"pipeline": {"reader", "client", "writer"},
		"cmd":      {"reader", "client", "writer", "pipeline"},
		"scripts":  {"reader", "client", "writer", "pipeline"},
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		folder, _, _ := strings.Cut(strings.TrimPrefix(fields[0], module), "/")
		may, ok := allowed[folder]
		if !ok && folder != "" {
			t.Errorf("%s is in an unexpected folder", fields[0])
		}
		for _, imported := range fields[1:] {
			path, ours := strings.CutPrefix(imported, module)
			other, _, _ := strings.Cut(path, "/")
			if ours && other != folder && !slices.Contains(may, other) {
				t.Errorf("%s imports %s", fields[0], imported)
			}
			if ours && fields[0] == module+"client" && !strings.Contains(path, "/internal/") {
				t.Errorf("%s imports %s, and may show it in its API", fields[0], imported)
			}
		}
	}
}

// TestNoWrappedEOFIsAnEnd refuses errors.Is with io.EOF, which is also true of a failure that wraps io.EOF, such as that
// of a connection. The contract of io.Reader is io.EOF itself.
func TestNoWrappedEOFIsAnEnd(t *testing.T) {
	refused, files := regexp.MustCompile(`errors\.Is\([^()]+, io\.EOF\)`), 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || slices.Contains([]string{"storage", "pages"}, filepath.Base(filepath.Dir(path))) { // which look for wrapped ones
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if found := refused.Find(text); found != nil {
			t.Errorf("%s has %s: compare with == io.EOF", path, found)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}
