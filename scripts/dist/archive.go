package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing/fstest"
	"time"
)

// archive returns the name of the archive of a platform: a zip file for Windows, where not every system reads other archives.
func (r *release) archive(p platform) string {
	extension := ".tar.gz"
	if p.os == "windows" {
		extension = ".zip"
	}
	return r.stem(p) + extension
}

func (r *release) stem(p platform) string { return "bulkcat_" + r.version + "_" + p.os + "_" + p.arch }

// archives writes an archive with one folder for each platform.
func (r *release) archives() error {
	for _, p := range platforms {
		stem := r.stem(p)
		files, err := r.manPages(stem + "/man")
		if err != nil {
			return err
		}
		files = append(files, file{r.binary(p), stem + "/" + p.command(), 0o755})
		files = append(files, file{filepath.Join(r.work, "README.md"), stem + "/README.md", 0o644})
		for _, name := range []string{"LICENSE", "CHANGELOG.md"} {
			files = append(files, file{filepath.Join(r.root, name), stem + "/" + name, 0o644})
		}
		files = append(files, file{filepath.Join(r.work, noticesName), stem + "/" + noticesName, 0o644})
		tree, err := treeOf(files, r.time)
		if err != nil {
			return err
		}
		write := writeTarGzip
		if p.os == "windows" {
			write = writeZip
		}
		if err := r.create(r.archive(p), func(out io.Writer) error { return write(out, tree) }); err != nil {
			return err
		}
	}
	return nil
}

// treeOf returns files and their parent folders, all with the time at.
func treeOf(files []file, at time.Time) (fs.FS, error) {
	tree := fstest.MapFS{}
	for _, f := range files {
		for folder := path.Dir(f.path); folder != "."; folder = path.Dir(folder) {
			tree[folder] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: at}
		}
		entry := &fstest.MapFile{Mode: f.mode, ModTime: at}
		if !f.mode.IsDir() {
			var err error
			if entry.Data, err = os.ReadFile(f.source); err != nil {
				return nil, err
			}
		}
		tree[f.path] = entry
	}
	return tree, nil
}

func writeTarGzip(w io.Writer, tree fs.FS) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(z, tree), z.Close())
}

func writeTar(w io.Writer, tree fs.FS) error {
	t := tar.NewWriter(w)
	return errors.Join(t.AddFS(tree), t.Close())
}

func writeZip(w io.Writer, tree fs.FS) error {
	z := zip.NewWriter(w)
	return errors.Join(z.AddFS(tree), z.Close())
}

// released is the section of the README about the installation of a release. Its commands work only after the release, so only the
// README of a release has the section.
//
//go:embed released.md
var released string

// mark is the place of the section in the README.
const mark = "<!-- released -->\n"

// readme writes the README of the release, with the section. Its links lead to the repository, because the archive lacks the
// linked pages.
func (r *release) readme() error {
	text, err := os.ReadFile(filepath.Join(r.root, "README.md"))
	if err != nil {
		return err
	}
	section, err := r.releasedReadme(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.work, "README.md"), []byte(section), 0o666)
}

func (r *release) releasedReadme(text string) (string, error) {
	if strings.Count(text, mark) != 1 {
		return "", fmt.Errorf("README.md needs one line %q", strings.TrimSpace(mark))
	}
	section := strings.NewReplacer("VERSION", r.version, "HOMEPAGE", homepage, "TAG", r.tag).Replace(released)
	text = strings.Replace(text, mark, mark+section+"<!-- /released -->\n", 1)
	link := regexp.MustCompile(`\]\(([^):#]+)((?:#[^)]*)?\))`)
	return link.ReplaceAllStringFunc(text, func(found string) string {
		m := link.FindStringSubmatch(found)
		return "](" + homepage + "/blob/" + r.tag + "/" + m[1] + m[2]
	}), nil
}
