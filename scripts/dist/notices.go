package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licenseclassifier/v2/assets"
)

// noticesName is the file with the licences of all modules in the binaries.
const noticesName = "THIRD_PARTY_NOTICES"

// module is a module in the binaries, with the licences of the packages that the binaries use.
type module struct {
	path, version string
	sum           string   // the checksum of the files in go.sum (SHA-256), in hex; "" for the standard library
	licences      []string // identifiers of SPDX
	files         []notice
}

type notice struct {
	name string // in the module
	text []byte
}

var classifier = sync.OnceValues(assets.DefaultClassifier)

// unclassified has licences that the classifier does not know, by module.
var unclassified = map[string]string{
	"github.com/ncruces/go-sqlite3-wasm/v6": "MIT-0", // and SQLite itself, which is in the public domain
}

// licenceFile matches the name of a file with a licence or a notice.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// modules returns the modules of all binaries and the standard library, sorted by path.
func (r *release) modules() ([]*module, error) {
	found := map[string]*module{}
	for _, p := range platforms {
		info, err := buildinfo.ReadFile(r.binary(p))
		if err != nil {
			return nil, err
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			found[m.Path] = &module{path: m.Path, version: m.Version, sum: sumOf(m)}
		}
		found["std"] = &module{path: "std", version: info.GoVersion}
		if err := r.findLicences(found, p); err != nil {
			return nil, err
		}
	}
	list := slices.SortedFunc(maps.Values(found), func(a, b *module) int { return strings.Compare(a.path, b.path) })
	for _, m := range list {
		if id := unclassified[m.path]; id != "" {
			m.licences = append(m.licences, id)
		}
		if len(m.licences) == 0 {
			return nil, fmt.Errorf("%s %s has no licence that is known: it cannot be distributed", m.path, m.version)
		}
	}
	return list, nil
}

// sumOf returns the checksum of a module in hex.
func sumOf(m *debug.Module) string {
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum)
}

// findLicences reads the files with licences in the folders of the packages of a platform, and in the folders above, up to the
// root of the module.
func (r *release) findLicences(modules map[string]*module, p platform) error {
	out, err := r.run([]string{"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=0"}, "go", "list", "-deps", "-f", `{{with .Module}}{{.Path}}	{{.Dir}}{{else}}std	{{end}}	{{.Dir}}`, "./cmd/bulkcat")
	if err != nil {
		return err
	}
	goroot, err := r.run(nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	read := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		m, ok := modules[parts[0]]
		if !ok {
			continue // bulkcat itself
		}
		root, dir := parts[1], parts[2]
		if m.path == "std" {
			root = strings.TrimSpace(string(goroot))
			dir = root
		}
		for ; !read[dir] && strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
			read[dir] = true
			if err := m.readFolder(root, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *module) readFolder(root, dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, readErr := os.ReadFile(filepath.Join(dir, e.Name()))
		name, relErr := filepath.Rel(root, filepath.Join(dir, e.Name()))
		err = errors.Join(err, readErr, relErr)
		if slices.ContainsFunc(m.files, func(n notice) bool { return n.name == name }) {
			continue
		}
		m.files = append(m.files, notice{filepath.ToSlash(name), text})
		classifier, classifyErr := classifier()
		if err = errors.Join(err, classifyErr); err != nil {
			return err
		}
		for _, match := range classifier.Match(text).Matches {
			if match.MatchType == "License" && !slices.Contains(m.licences, match.Name) {
				m.licences = append(m.licences, match.Name)
			}
		}
	}
	return err
}

// notices writes the licences of all modules, and the sources of the taxonomies.
func (r *release) notices() error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	r.linked = modules
	guide, err := os.ReadFile(filepath.Join(r.root, "cmd/bulkcat/guide/answers.md"))
	if err != nil {
		return err
	}
	_, sources, ok := strings.Cut(string(guide), "\n## Sources of the taxonomies\n")
	if !ok || !strings.Contains(sources, "IAB Tech Lab") {
		return errors.New(`cmd/bulkcat/guide/answers.md has no section "Sources of the taxonomies" that names the IAB Tech Lab`)
	}
	sources, _, _ = strings.Cut(strings.TrimSpace(sources), "\n\n") // the table
	var text bytes.Buffer
	fmt.Fprintf(&text, "bulkcat %s has data and programs of others.\n\n%s\n", r.version, sources)
	for _, m := range modules {
		slices.SortFunc(m.files, func(a, b notice) int { return strings.Compare(a.name, b.name) })
		for _, f := range m.files {
			fmt.Fprintf(&text, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 78), m.path, m.version, f.name, bytes.TrimSpace(f.text))
		}
	}
	return os.WriteFile(filepath.Join(r.work, noticesName), text.Bytes(), 0o666)
}

// billOfMaterials writes the modules that the binaries list, with licences and checksums, in CycloneDX.
func (r *release) billOfMaterials() error {
	main := component(cyclonedx.ComponentTypeApplication, "github.com/bulkcat/bulkcat", r.tag, "Apache-2.0")
	var (
		list []cyclonedx.Component
		refs []string
	)
	for _, m := range r.linked {
		c := component(cyclonedx.ComponentTypeLibrary, m.path, m.version, m.licences...)
		if m.sum != "" {
			c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: m.sum}}
		}
		list, refs = append(list, c), append(refs, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}
	bom.Components = &list
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return r.create("bulkcat_"+r.version+".cdx.json", func(out io.Writer) error {
		return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}

func component(kind cyclonedx.ComponentType, path, version string, licences ...string) cyclonedx.Component {
	purl := "pkg:golang/" + path + "@" + version
	var list cyclonedx.Licenses
	for _, id := range licences {
		list = append(list, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	return cyclonedx.Component{Type: kind, BOMRef: purl, Name: path, Version: version, PackageURL: purl, Licenses: &list}
}
