package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

const (
	homepage    = "https://github.com/bulkcat/bulkcat"
	summary     = "Categorize millions of websites or products into a table"
	description = "It asks a metered service, or the embedded one on this machine, stores\n" +
		"each answer, and writes one flat row per category to Parquet, CSV or JSONL.\n" +
		"It goes on where it was stopped."
	maintainer = "The bulkcat authors <bulkcat@users.noreply.github.com>"
)

// packages writes, for each processor, a package for Debian and Ubuntu and a package for Fedora, RHEL and SUSE: the binary, its
// man pages and completions, and systemd units, which the installation does not start.
func (r *release) packages() error {
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		for name, packager := range map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM} {
			info, err := r.packageInfo(p, name)
			if err != nil {
				return err
			}
			if err := nfpm.PrepareForPackager(info, name); err != nil {
				return err
			}
			if err := r.create(packager.ConventionalFileName(info), func(out io.Writer) error { return packager.Package(info, out) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) packageInfo(p platform, packager string) (*nfpm.Info, error) {
	list, err := r.packageFiles(p, packager)
	if err != nil {
		return nil, err
	}
	info := &nfpm.Info{
		Name: "bulkcat", Arch: p.arch, Platform: p.os, Version: r.version, Section: "utils", Priority: "optional",
		Maintainer: maintainer, Description: summary + "\n" + description, Homepage: homepage, License: "Apache-2.0", MTime: r.time, DisableGlobbing: true,
	}
	if packager == "rpm" {
		info.Changelog = filepath.Join(r.work, "changelog.yaml")
		text := fmt.Sprintf("- semver: %s-1\n  date: %s\n  packager: %q\n  changes:\n    - note: See changelog.gz in the documentation.\n", r.version, r.time.Format(time.RFC3339), maintainer)
		if err := os.WriteFile(info.Changelog, []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	info.Recommends = []string{"ca-certificates"}
	info.RPM = nfpm.RPM{Summary: summary, Group: "Applications/Text", BuildHost: "bulkcat", Compression: "zstd"}
	for _, f := range list {
		kind := files.TypeFile
		if packager == "rpm" && (strings.HasPrefix(f.path, "usr/share/doc/") || strings.HasPrefix(f.path, "usr/share/man/")) {
			kind = files.TypeRPMDoc
		}
		info.Contents = append(info.Contents, &files.Content{
			Source: f.source, Destination: "/" + f.path, Type: kind, FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: r.time},
		})
	}
	info.Contents = append(info.Contents, &files.Content{
		Destination: "/etc/bulkcat", Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.time},
	})
	return nfpm.WithDefaults(info), nil
}

// copyright is the file with the copyright of a year. Debian wants it in place of a licence text that every system has.
const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: bulkcat
Source: ` + homepage + `
Comment: The licences of the modules in the program are in THIRD_PARTY_NOTICES.

Files: *
Copyright: %d The bulkcat authors
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the text of this licence is in /usr/share/common-licenses/Apache-2.0.
`

// debianChangelog is the changelog in Debian's form, for a version and a time. NEWS.gz has the changes.
const debianChangelog = `bulkcat (%s) stable; urgency=medium

  * Release: see NEWS.gz.

 -- ` + maintainer + `  %s
`

// packageFiles lists the files of a package. Man pages and changelogs are compressed, as distributions want.
func (r *release) packageFiles(p platform, packager string) ([]file, error) {
	list, err := r.manPages("usr/share/man/man1")
	if err != nil {
		return nil, err
	}
	changes := file{filepath.Join(r.root, "CHANGELOG.md"), "usr/share/doc/bulkcat/changelog", 0o644}
	if packager == "deb" {
		debian := file{filepath.Join(r.work, "changelog.Debian"), changes.path, changes.mode}
		if err := os.WriteFile(debian.source, fmt.Appendf(nil, debianChangelog, r.version, r.time.Format(time.RFC1123Z)), 0o666); err != nil {
			return nil, err
		}
		changes.path = "usr/share/doc/bulkcat/NEWS"
		list = append(list, debian)
	}
	list = append(list, changes)
	for i := range list {
		if list[i], err = r.compressed(list[i]); err != nil {
			return nil, err
		}
	}
	write := func(path, text string) {
		source := filepath.Join(r.work, filepath.Base(path)+"."+packager)
		err = errors.Join(err, os.WriteFile(source, []byte(text), 0o666))
		list = append(list, file{source, path, 0o644})
	}
	zsh := "usr/share/zsh/site-functions/_bulkcat"
	if packager == "deb" {
		zsh = "usr/share/zsh/vendor-completions/_bulkcat"
		write("usr/share/doc/bulkcat/copyright", fmt.Sprintf(copyright, r.time.Year()))
		write("usr/share/lintian/overrides/bulkcat", "# One binary serves all versions of all systems.\nbulkcat: statically-linked-binary [usr/bin/bulkcat]\n")
	} else {
		list = append(list, file{filepath.Join(r.root, "LICENSE"), "usr/share/licenses/bulkcat/LICENSE", 0o644})
	}
	if err != nil {
		return nil, err
	}
	of := func(name, path string) file { return file{filepath.Join(r.root, name), path, 0o644} }
	list = append(list,
		file{r.binary(p), "usr/bin/bulkcat", 0o755},
		file{filepath.Join(r.work, "bash"), "usr/share/bash-completion/completions/bulkcat", 0o644},
		file{filepath.Join(r.work, "zsh"), zsh, 0o644},
		file{filepath.Join(r.work, "fish"), "usr/share/fish/vendor_completions.d/bulkcat.fish", 0o644},
		file{filepath.Join(r.work, noticesName), "usr/share/doc/bulkcat/" + noticesName, 0o644},
		of("scripts/schedulers/jobs.toml", "usr/share/doc/bulkcat/examples/jobs.toml"))
	units, err := filepath.Glob(filepath.Join(r.root, "scripts/schedulers/bulkcat*.[st]*e*"))
	for _, unit := range units {
		list = append(list, file{unit, "usr/lib/systemd/system/" + filepath.Base(unit), 0o644})
	}
	return list, err
}

// compressed is a file in gzip. The bytes depend on the content alone.
func (r *release) compressed(f file) (file, error) {
	text, err := os.ReadFile(f.source)
	if err != nil {
		return f, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return f, err
	}
	_, err = z.Write(text)
	f.source, f.path = filepath.Join(r.work, filepath.Base(f.path)+".gz"), f.path+".gz"
	return f, errors.Join(err, z.Close(), os.WriteFile(f.source, b.Bytes(), 0o666))
}
