package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
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
	"slices"
	"strings"
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
		write := writeTarGzip
		if p.os == "windows" {
			write = writeZip
		}
		files = append(files, file{filepath.Join(r.work, noticesName), stem + "/" + noticesName, 0o644})
		if err := writeArchive(filepath.Join(r.out, r.archive(p)), files, r.time, write); err != nil {
			return err
		}
	}
	return nil
}

func writeArchive(name string, files []file, at time.Time, write func(io.Writer, []file, time.Time) error) (err error) {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f, files, at)
}

func writeTarGzip(w io.Writer, files []file, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(z, files, at), z.Close())
}

// writeTar writes files and empty folders. It writes each parent folder before the first file in it.
func writeTar(w io.Writer, files []file, at time.Time) error {
	t := tar.NewWriter(w)
	made := map[string]bool{".": true}
	for _, f := range files {
		for _, folder := range parents(f.path) {
			if made[folder] {
				continue
			}
			made[folder] = true
			if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: at}); err != nil {
				return err
			}
		}
		if f.mode.IsDir() {
			made[f.path] = true
			header := &tar.Header{Typeflag: tar.TypeDir, Name: f.path + "/", Mode: int64(f.mode.Perm()), ModTime: at}
			if f.mode&fs.ModeSticky != 0 {
				header.Mode |= 0o1000
			}
			if err := t.WriteHeader(header); err != nil {
				return err
			}
			continue
		}
		content, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: int64(f.mode), Size: int64(len(content)), ModTime: at}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return t.Close()
}

// parents returns the folders of a path, the outermost first.
func parents(name string) (folders []string) {
	for i := range strings.Count(name, "/") {
		folders = append(folders, strings.Join(strings.Split(name, "/")[:i+1], "/"))
	}
	return folders
}

func writeZip(w io.Writer, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		content, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: path.Clean(f.path), Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode)
		entry, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(content); err != nil {
			return err
		}
	}
	return z.Close()
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
