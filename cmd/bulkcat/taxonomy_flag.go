package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// customFlags name custom taxonomies, in which the embedded service answers in addition to the published taxonomies, and models
// of either kind of taxonomy.
type customFlags struct {
	given  []string // FILE or NAME=FILE
	loaded []*taxonomy.Custom

	versions []string
	editions taxonomy.Choice

	models modelFlags
}

// loadEditions finds the editions of the given versions and of the models. The errors are usage errors.
func (f *customFlags) loadEditions() error {
	f.editions = slices.Clone(f.models.editions)
	for _, version := range f.versions {
		var known []string
		found := false
		for _, e := range taxonomy.Editions() {
			known = append(known, e.Version+" of "+e.Name)
			if e.Version != version {
				continue
			}
			if own, ok := f.models.editions.Given(e.Name); ok && own.Version != version {
				return &usageError{fmt.Errorf("--edition: the model is of the edition %s of %s: leave --edition out, or make the model again", own.Version, own.Name)}
			}
			if other, ok := f.editions.Given(e.Name); ok && other.Version != version {
				return &usageError{fmt.Errorf("--edition: %s and %s are both editions of %s: choose one", other.Version, version, e.Name)}
			}
			f.editions, found = append(f.editions, e), true
		}
		if !found {
			return &usageError{fmt.Errorf("--edition: there is no edition %q: choose %s", version, strings.Join(known, ", "))}
		}
	}
	return nil
}

// load reads the files on its first call, and logs in which form it has read each file. The errors are usage errors.
func (f *customFlags) load(log *slog.Logger) error {
	if len(f.loaded) >= len(f.given) && len(f.models.loaded) == len(f.models.given) {
		return f.loadEditions()
	}
	f.loaded = nil
	for _, given := range f.given {
		custom, err := f.loadOne(given)
		if err != nil {
			return &usageError{fmt.Errorf("--taxonomy: %w", err)}
		}
		f.loaded = append(f.loaded, custom)
		log.Info(custom.File + ": " + describeCustom(custom))
		if warning := custom.Warning(); warning != "" {
			log.Warn(custom.File + ": " + warning)
		}
	}
	if err := f.loadModels(); err != nil {
		return &usageError{fmt.Errorf("--model: %w", err)}
	}
	return f.loadEditions()
}

// files returns the files of the taxonomies and the models.
func (f *customFlags) files() []string {
	files := slices.Clone(f.models.given)
	for _, given := range f.given {
		_, file := splitTaxonomy(given)
		files = append(files, file)
	}
	return files
}

// describeCustom describes a taxonomy that was read, and the form of its file.
func describeCustom(c *taxonomy.Custom) string {
	return fmt.Sprintf("%d categories in %s, read as %s", len(c.Categories), figures.Counted(c.Levels(), "level"), c.Form)
}

func (f *customFlags) loadOne(given string) (*taxonomy.Custom, error) {
	if name, _, ok := strings.Cut(given, "="); ok && taxonomy.Published(name) != nil {
		return nil, fmt.Errorf("%s is a published taxonomy: choose another name", name)
	}
	name, file := splitTaxonomy(given)
	if !client.IsCustom(name) || file == "" {
		return nil, fmt.Errorf("%q must be FILE or NAME=FILE, the name of letters, digits, - and _", given)
	}
	if f.find(name) != nil {
		return nil, fmt.Errorf("%s is given twice: choose another name", name)
	}
	return loadCustom(name, file)
}

// splitTaxonomy returns the name of the classification and the file of a value of --taxonomy: NAME=FILE, or FILE, whose name
// becomes the name of the classification.
func splitTaxonomy(given string) (name, file string) {
	name, file, ok := strings.Cut(given, "=")
	if !ok {
		file = given
		name = strings.Map(func(r rune) rune {
			if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '-' {
				return r
			}
			return '_'
		}, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}
	if !strings.HasPrefix(name, client.CustomPrefix) {
		name = client.CustomPrefix + name
	}
	return name, file
}

// loadCustom reads a taxonomy from a regular file.
func loadCustom(name, path string) (*taxonomy.Custom, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read from
	return taxonomy.ReadCustom(name, path, file)
}

func (f *customFlags) find(name string) *taxonomy.Custom {
	for _, custom := range f.loaded {
		if custom.Name == name {
			return custom
		}
	}
	return nil
}

// checkHosted refuses taxonomies and models for a hosted service.
func (f *customFlags) checkHosted() error {
	switch {
	case len(f.given) > 0:
		return errors.New("--taxonomy is for the embedded service: a hosted one has its own; leave out --taxonomy or the base URL")
	case len(f.models.given) > 0:
		return errors.New("--model is for the embedded service: leave out --model or the base URL")
	}
	return nil
}

// service returns the options of an embedded service that answers in the taxonomies, and with the models.
func (f *customFlags) service(fetch *fetchFlags, log *slog.Logger) embedded.Options {
	return embedded.Options{Fetch: fetch.fetcher(log), Custom: f.loaded, Editions: f.editions, Models: f.models.loaded, Logger: log}
}

// choose returns the classification in which the embedded service answers: the given one, or else the default of a kind. The
// errors are usage errors: the service cannot answer in the classification, or a model is of another one.
func (f *customFlags) choose(kind client.Kind, given string) (string, error) {
	name := cmp.Or(given, strings.Join(pipeline.DefaultClassifications(kind, f.loaded, f.models.loaded), ","))
	if err := client.CheckClassification(kind, name); err != nil {
		return "", &usageError{fmt.Errorf("--classification: %w", err)}
	}
	if err := f.has(name); err != nil {
		return "", &usageError{err}
	}
	return name, f.models.used(kind, []string{name})
}

// has returns an error for a custom classification whose taxonomy was not given.
func (f *customFlags) has(classification string) error {
	if client.IsCustom(classification) && f.find(classification) == nil {
		return fmt.Errorf("the embedded service does not have the classification %s: name a file of its categories with --taxonomy %s=FILE", classification, classification)
	}
	return nil
}
