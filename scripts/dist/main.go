// Dist builds the files of a release: archives, Debian and RPM packages, container images, wheels for Python, a bill of
// materials, manifests of package managers, checksums, and the notes of the version. The same commit gives the same bytes.
//
//	make dist VERSION=v0.1.0
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("dist: ")
	var r release
	flag.StringVar(&r.root, "root", "../..", "the folder of the project")
	flag.StringVar(&r.out, "o", "../../bin/dist", "the folder to write, which is emptied first")
	flag.StringVar(&r.tag, "version", "", "the tag of the release, such as v0.1.0")
	flag.Parse()
	if err := r.build(); err != nil {
		log.Fatal(err)
	}
}

// release is a release that is built.
type release struct {
	root, out string
	tag       string    // v0.1.0
	version   string    // 0.1.0
	time      time.Time // of the commit; the time of all files
	work      string    // a temporary folder with binaries, completions, man pages and the README
	sums      map[string]string
	linked    []*module // of the binaries
}

// platform is the operating system and the processor of a binary.
type platform struct{ os, arch string }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// file is a file of an archive, a package or an image.
type file struct {
	source string // its path on this machine; "" for an empty folder
	path   string // its path in the archive, with slashes
	mode   fs.FileMode
}

func (r *release) build() (err error) {
	r.version = strings.TrimPrefix(r.tag, "v")
	if r.version == r.tag || !strings.Contains(r.version, ".") {
		return fmt.Errorf("the version is %q: give a tag such as v0.1.0", r.tag)
	}
	notes, err := r.notes()
	if err != nil {
		return err
	}
	if err := r.checkTag(); err != nil {
		return err
	}
	if r.time, err = r.commitTime(); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "bulkcat-dist-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o777), os.WriteFile(filepath.Join(r.out, notesName), []byte(notes), 0o666)); err != nil {
		return err
	}
	for _, step := range []func() error{
		r.binaries, r.texts, r.readme, r.notices, r.archives, r.packages, r.images, r.billOfMaterials, r.wheels, r.sum, r.manifests, r.writeSums,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// commitTime returns SOURCE_DATE_EPOCH, or else the time of the commit.
func (r *release) commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := r.run(nil, "git", "log", "-1", "--format=%ct")
		if err != nil {
			return time.Time{}, err
		}
		text = string(out)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// run runs a program in the folder of the project and returns its output.
func (r *release) run(env []string, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env, c.Stderr = r.root, append(os.Environ(), env...), os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	return out, nil
}

// create writes a file of the release.
func (r *release) create(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// notesName is the file with the changes of the version.
const notesName = "NOTES.md"

// notes returns the section of the version in CHANGELOG.md, without its heading.
func (r *release) notes() (string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	return changes(string(text), r.version)
}

// checkTag returns an error if the tag is at another commit: then the version is older than the tree.
func (r *release) checkTag() error {
	tagged, err := r.run(nil, "git", "rev-parse", "--verify", "--quiet", "refs/tags/"+r.tag+"^{commit}")
	if err != nil {
		return nil // there is no such tag, or no repository
	}
	head, err := r.run(nil, "git", "rev-parse", "HEAD")
	if err == nil && !bytes.Equal(tagged, head) {
		err = fmt.Errorf("the tag %s is at the commit %.12s, and the tree at %.12s: check out the tag, or give the next version", r.tag, tagged, head)
	}
	return err
}

// changes returns the section of a version in a changelog. No section above it may have text: the tree has those changes, and the
// section does not.
func changes(text, version string) (string, error) {
	for i, section := range strings.Split("\n"+text, "\n## ") {
		heading, rest, _ := strings.Cut(section, "\n")
		name, _, _ := strings.Cut(heading, " ")
		switch {
		case i == 0: // the title
		case strings.Trim(name, "[]") == version:
			return strings.TrimSpace(rest) + "\n", nil
		case strings.TrimSpace(rest) != "":
			return "", fmt.Errorf("CHANGELOG.md has the changes of %q before a section \"## %s\": move them there", heading, version)
		}
	}
	return "", fmt.Errorf("CHANGELOG.md has no section \"## %s\"", version)
}

// binary returns the path of the binary of a platform.
func (r *release) binary(p platform) string {
	return filepath.Join(r.work, p.os+"_"+p.arch, p.command())
}

func (p platform) command() string {
	if p.os == "windows" {
		return "bulkcat.exe"
	}
	return "bulkcat"
}

func (r *release) binaries() error {
	for _, p := range platforms {
		log.Printf("the binary for %s/%s", p.os, p.arch)
		if _, err := r.run([]string{"GOOS=" + p.os, "GOARCH=" + p.arch}, "make", "--no-print-directory", "build", "VERSION="+r.tag, "BIN="+r.binary(p)); err != nil {
			return err
		}
	}
	return nil
}

// texts makes the completions of shells. The man pages are in bin/man.
func (r *release) texts() error {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out, err := r.run(nil, "go", "run", "./cmd/bulkcat", "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.work, shell), out, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// manPages lists the man pages, in a folder of an archive.
func (r *release) manPages(folder string) ([]file, error) {
	pages, err := filepath.Glob(filepath.Join(r.root, "bin/man/*.1"))
	if err == nil && len(pages) == 0 {
		err = errors.New("bin/man has no man pages: run make man")
	}
	var files []file
	for _, page := range pages {
		files = append(files, file{page, folder + "/" + filepath.Base(page), 0o644})
	}
	return files, err
}

// wheels makes the wheels of Python.
func (r *release) wheels() error {
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	_, err = r.run([]string{"VERSION=" + r.tag, "NOTICES=" + filepath.Join(r.work, noticesName)}, "python3", "scripts/python/wheel.py", out, "--all")
	return err
}

// sum computes the checksums of the files that the release has so far.
func (r *release) sum() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	r.sums = map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		if e.Name() != notesName {
			r.sums[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(content))
		}
	}
	return nil
}

func (r *release) writeSums() error {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.sums)) {
		fmt.Fprintf(&text, "%s  %s\n", r.sums[name], name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), text.Bytes(), 0o666)
}
