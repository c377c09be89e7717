package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Commands in a container write to its working folder and to /tmp, as any user.
func TestImageFolders(t *testing.T) {
	r := &release{root: "../..", work: t.TempDir()}
	p := platform{"linux", "amd64"}
	if err := errors.Join(os.MkdirAll(filepath.Dir(r.binary(p)), 0o777), os.WriteFile(r.binary(p), nil, 0o777), os.WriteFile(filepath.Join(r.work, noticesName), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	files, err := r.imageFiles(p)
	tree, treeErr := treeOf(files, time.Unix(1e9, 0))
	var content bytes.Buffer
	if err := errors.Join(err, treeErr, writeTar(&content, tree)); err != nil {
		t.Fatal(err)
	}
	modes := map[string]fs.FileMode{}
	for in := tar.NewReader(&content); ; {
		header, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[header.Name] = header.FileInfo().Mode()
	}
	for name, want := range map[string]fs.FileMode{
		"tmp/": fs.ModeDir | fs.ModeSticky | 0o777, "work/": fs.ModeDir | fs.ModeSticky | 0o777, "usr/": fs.ModeDir | 0o755, "usr/share/doc/": fs.ModeDir | 0o755, "usr/bin/bulkcat": 0o755,
	} {
		if modes[name] != want {
			t.Errorf("%s: mode %v, want %v", name, modes[name], want)
		}
	}
}

func TestChanges(t *testing.T) {
	const older = "## 0.2.0 - 2026-12-01\n\n### Added\n\n- two\n\n## [0.1.0]\n\n- one\n"
	for text, want := range map[string]string{
		"# Changelog\n\n" + older:                            "### Added\n\n- two\n",
		"# Changelog\n\n## Unreleased\n\n" + older:           "### Added\n\n- two\n",
		"# Changelog\n\n## Unreleased\n\n- next\n\n" + older: "", // older than the tree
		"# Changelog\n\n## 0.3.0\n\n- three\n\n" + older:     "",
		"# Changelog\n\n## [0.1.0]\n\n- one\n":               "",
		"# Changelog\n\n## [0.2.0]\n\n- two\n\n## 0.1.0\n":   "- two\n",
		"# Changelog\n\nAll changes.\n\n## 0.2.0\n\n- two\n": "- two\n",
	} {
		if got, err := changes(text, "0.2.0"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// A tag of another commit is refused. Nothing is removed then.
func TestTagOfAnotherCommit(t *testing.T) {
	root := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		command(t, root, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	git("tag", "v1.2.3")
	r := &release{root: root, tag: "v1.2.3"}
	if err := r.checkTag(); err != nil {
		t.Error(err)
	}
	git("commit", "-q", "--allow-empty", "-m", "two")
	if err := r.checkTag(); err == nil {
		t.Error("a version that is older than the tree")
	}
	if err := (&release{root: root, tag: "v1.2.4"}).checkTag(); err != nil {
		t.Error(err)
	}
}

// The README says how a release is installed in the archive of one, and not before: nothing of it works without a release.
func TestReadmeOfARelease(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := &release{tag: "v1.2.3", version: "1.2.3"}
	made, err := r.releasedReadme(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"pip install", "go install", "@latest", "brew ", "releases/"} {
		if strings.Contains(string(text), words) {
			t.Errorf("README.md names %q, which needs a release", words)
		}
	}
	for _, words := range []string{`pip install "bulkcat==1.2.3"`, "cmd/bulkcat@v1.2.3\n", "(" + homepage + "/blob/v1.2.3/cmd/bulkcat/HOWTO.md)"} {
		if !strings.Contains(made, words) {
			t.Errorf("the README of a release does not have %q:\n%s", words, made)
		}
	}
	if strings.Contains(made, "](cmd/") {
		t.Errorf("the README of a release has links to files that the archive does not have:\n%s", made)
	}
	if _, err := r.releasedReadme("# bulkcat\n"); err == nil {
		t.Error("a README without the place of the section")
	}
}

// The bytes of an archive depend on the names, modes and contents of its files, and on one time.
func TestArchivesAreReproducible(t *testing.T) {
	for name, write := range map[string]func(io.Writer, fs.FS) error{"tar.gz": writeTarGzip, "zip": writeZip} {
		t.Run(name, func(t *testing.T) {
			var made [][]byte
			for i := range 2 {
				source := filepath.Join(t.TempDir(), "f")
				if err := os.WriteFile(source, []byte("content"), 0o600+os.FileMode(i)*0o44); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(source, time.Unix(int64(i), 0), time.Unix(int64(i), 0)); err != nil {
					t.Fatal(err)
				}
				tree, err := treeOf([]file{{source, "a/b/f", 0o644}, {source, "a/g", 0o755}}, time.Unix(1e9, 0).UTC())
				var b bytes.Buffer
				if err := errors.Join(err, write(&b, tree)); err != nil {
					t.Fatal(err)
				}
				made = append(made, b.Bytes())
			}
			if !bytes.Equal(made[0], made[1]) {
				t.Error("two archives of the same files differ")
			}
		})
	}
}

func TestManifests(t *testing.T) {
	r := release{out: t.TempDir(), tag: "v1.2.3", version: "1.2.3", time: time.Unix(1e9, 0).UTC(), sums: map[string]string{}}
	if err := r.manifests(); err == nil {
		t.Error("manifests without the archives that they name")
	}
	for _, p := range platforms {
		r.sums[r.archive(p)] = "0a1b"
	}
	if err := r.manifests(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"bulkcat.rb":                    homepage + "/releases/download/v1.2.3/bulkcat_1.2.3_darwin_arm64.tar.gz",
		"bulkcat.scoop.json":            `"extract_dir": "bulkcat_1.2.3_windows_arm64"`,
		"bulkcat.winget.installer.yaml": "InstallerSha256: 0A1B\n",
	} {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s does not have %q: %v", name, want, err)
		}
	}
}

// The notices have the licence of each module that a binary is linked with, and the sources of the data.
func TestNotices(t *testing.T) {
	all := platforms
	platforms = []platform{{runtime.GOOS, runtime.GOARCH}}
	defer func() { platforms = all }()
	r := &release{root: "../..", work: t.TempDir(), version: "1.2.3"}
	build := exec.Command("go", "build", "-o", r.binary(platforms[0]), "./cmd/bulkcat")
	build.Dir = r.root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := r.notices(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.work, noticesName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CC BY 3.0, IAB Tech Lab", "\nstd go1", "github.com/parquet-go/parquet-go v", "Permission is hereby granted"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the notices lack %q", want)
		}
	}
	for _, m := range r.linked {
		if len(m.files) == 0 || m.path != "std" && len(m.sum) != 64 {
			t.Errorf("%s: %d files with licences, checksum %q", m.path, len(m.files), m.sum)
		}
	}
}
