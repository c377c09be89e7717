package main

import (
	"embed"
	"errors"
	"io"
	"strings"
	"text/template"
)

// The manifests of package managers. They name the archives by their addresses and checksums.
//
//go:embed templates
var templates embed.FS

// manifests writes the formula of Homebrew and the manifests of Scoop and WinGet.
func (r *release) manifests() error {
	set, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{"upper": strings.ToUpper}).ParseFS(templates, "templates/*")
	if err != nil {
		return err
	}
	for _, t := range set.Templates() {
		if err := r.create(t.Name(), func(out io.Writer) error { return t.Execute(out, r) }); err != nil {
			return err
		}
	}
	return nil
}

// The following methods are for templates.

func (r *release) Version() string  { return r.version }
func (r *release) Date() string     { return r.time.Format("2006-01-02") }
func (r *release) Summary() string  { return summary }
func (r *release) Homepage() string { return homepage }

// Stem returns the name of the folder in the archive of a platform.
func (r *release) Stem(os, arch string) string { return r.stem(platform{os, arch}) }

// URL returns the URL of the archive of a platform.
func (r *release) URL(os, arch string) string {
	return homepage + "/releases/download/" + r.tag + "/" + r.archive(platform{os, arch})
}

// SHA256 returns the checksum of the archive of a platform.
func (r *release) SHA256(os, arch string) (string, error) {
	name := r.archive(platform{os, arch})
	sum, ok := r.sums[name]
	if !ok {
		return "", errors.New("there is no archive " + name)
	}
	return sum, nil
}
