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
	allowed := map[string][]string{
		"reader":   {},
		"client":   {},
		"writer":   {},
		"pipeline": {"reader", "client", "writer"},
		"cmd":      {"reader", "client", "writer", "pipeline"},
		"scripts":  {"reader", "client", "writer", "pipeline"},
	}
	for path, imports := range importsOf(t, "...") {
		folder, _, _ := strings.Cut(path, "/")
		may, ok := allowed[folder]
		if !ok && folder != "" {
			t.Errorf("%s is in an unexpected folder", path)
		}
		for _, imported := range imports {
			other, _, _ := strings.Cut(imported, "/")
			if other != folder && !slices.Contains(may, other) {
				t.Errorf("%s imports %s", path, imported)
			}
			if path == "client" && !strings.Contains(imported, "/internal/") {
				t.Errorf("%s imports %s, and may show it in its API", path, imported)
			}
		}
	}
}

// importsOf returns our packages that fit a pattern, each with those of our packages that it imports. The names are without
// that of the module.
func importsOf(t *testing.T, pattern string) map[string][]string {
	t.Helper()
	const module = "github.com/bulkcat/bulkcat/"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+pattern).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		path := strings.TrimPrefix(fields[0], module)
		all[path] = nil
		for _, imported := range fields[1:] {
			if imported, ours := strings.CutPrefix(imported, module); ours {
				all[path] = append(all[path], imported)
			}
		}
	}
	return all
}

// TestImportsOfPipelineAreATree checks that each package of pipeline imports only packages of pipeline that come before it
// in this list. Of these packages, only those that write a run again import package pipeline itself.
func TestImportsOfPipelineAreATree(t *testing.T) {
	order := []string{
		"repeat", "storage", "storage/storagetest", "storage/storagetest/s3faults", "places", "internal/stdin", "internal/spill", "internal/refresh", "internal/forecast", "internal/attempts", "jobs", "notify", // know nothing of a run
		"account", "runfiles", "internal/selection", "internal/cascade", "figures", "live", "internal/progress", "internal/output", "internal/flow", "labelled", // of a run
		"readback", "report", "diff", "expect", // read outputs back
	}
	for i, path := range order {
		order[i] = "pipeline/" + path
	}
	order = append(order, "pipeline", "pipeline/verify", "pipeline/finish")
	for path, imports := range importsOf(t, "pipeline/...") {
		place := slices.Index(order, path)
		if place < 0 {
			t.Errorf("%s has no place in the list", path)
			continue
		}
		for _, imported := range imports {
			if strings.HasPrefix(imported, "pipeline") && slices.Index(order[:place], imported) < 0 {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}

// TestAccountsNeedNoStages checks that the package that says what the files of a run mean imports only plain types, so that
// other programs can have it without readers, writers and clients.
func TestAccountsNeedNoStages(t *testing.T) {
	all := importsOf(t, "...")
	for _, imported := range all["pipeline/account"] {
		if imported != "client/money" && imported != "writer/form" || len(all[imported]) > 0 {
			t.Errorf("pipeline/account imports %s, which imports %q", imported, all[imported])
		}
	}
}

// TestStorageNeedsNoStore checks that a program that reads and writes files in object storage does not contain the engine of the
// store.
func TestStorageNeedsNoStore(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../pipeline/storage", "../../pipeline/report").Output()
	if err != nil || strings.Contains(string(out), "sqlite") {
		t.Errorf("%v: %s", err, out)
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
