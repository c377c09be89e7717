package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

const (
	homepage   = "https://github.com/bulkcat/bulkcat"
	summary    = "Categorize millions of websites or products into a table"
	maintainer = "The bulkcat authors <bulkcat@users.noreply.github.com>"
)

// packages writes a package for Debian and Ubuntu and one for Fedora, RHEL and SUSE, for each processor: the binary,
// its man pages and completions, and systemd units, which are not started by the installation.
func (r *release) packages() error {
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		for name, packager := range map[string]nfpm.Packager{"deb": deb.Default, "rpm": rpm.DefaultRPM} {
			info, err := r.packageInfo(p)
			if err != nil {
				return err
			}
			if err := nfpm.PrepareForPackager(info, name); err != nil {
				return err
			}
			f, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
			if err != nil {
				return err
			}
			if err := errors.Join(packager.Package(info, f), f.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) packageInfo(p platform) (*nfpm.Info, error) {
	list, err := r.packageFiles(p)
	if err != nil {
		return nil, err
	}
	info := &nfpm.Info{
		Name: "bulkcat", Arch: p.arch, Platform: p.os, Version: r.version, Section: "utils", Priority: "optional",
		Maintainer: maintainer, Description: summary, Homepage: homepage, License: "Apache-2.0", MTime: r.time, DisableGlobbing: true,
	}
	info.Recommends = []string{"ca-certificates"}
	info.RPM = nfpm.RPM{Summary: summary, BuildHost: "bulkcat", Compression: "zstd"}
	for _, f := range list {
		info.Contents = append(info.Contents, &files.Content{
			Source: f.source, Destination: "/" + f.path, FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: r.time},
		})
	}
	info.Contents = append(info.Contents, &files.Content{
		Destination: "/etc/bulkcat", Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.time},
	})
	return nfpm.WithDefaults(info), nil
}

func (r *release) packageFiles(p platform) ([]file, error) {
	list, err := r.manPages("usr/share/man/man1")
	if err != nil {
		return nil, err
	}
	of := func(name, path string) file { return file{filepath.Join(r.root, name), path, 0o644} }
	list = append(list,
		file{r.binary(p), "usr/bin/bulkcat", 0o755},
		file{filepath.Join(r.work, "bash"), "usr/share/bash-completion/completions/bulkcat", 0o644},
		file{filepath.Join(r.work, "zsh"), "usr/share/zsh/vendor-completions/_bulkcat", 0o644},
		file{filepath.Join(r.work, "fish"), "usr/share/fish/vendor_completions.d/bulkcat.fish", 0o644},
		of("LICENSE", "usr/share/doc/bulkcat/copyright"),
		file{filepath.Join(r.work, noticesName), "usr/share/doc/bulkcat/" + noticesName, 0o644},
		of("scripts/schedulers/jobs.toml", "usr/share/doc/bulkcat/examples/jobs.toml"))
	units, err := filepath.Glob(filepath.Join(r.root, "scripts/schedulers/bulkcat*.[st]*e*"))
	for _, unit := range units {
		list = append(list, file{unit, "usr/lib/systemd/system/" + filepath.Base(unit), 0o644})
	}
	return list, err
}
