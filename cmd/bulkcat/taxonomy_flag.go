package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// customFlags are custom taxonomies, which the embedded service answers in beside the published ones, and the models of
// both kinds of taxonomies.
type customFlags struct {
	given  []string // NAME=FILE
	loaded []*taxonomy.Custom
	models modelFlags
}

func (f *customFlags) bind(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.given, "taxonomy", nil, "let the embedded service answer in a custom product taxonomy, `NAME=FILE`, where NAME is "+client.CustomPrefix+"..., and ask for it unless --classification is given; may be given several times")
	f.models.bind(flags)
}

// load reads the files, once. The errors are usage errors.
func (f *customFlags) load() error {
	if len(f.loaded) >= len(f.given) && len(f.models.loaded) == len(f.models.given) {
		return nil
	}
	f.loaded = nil
	for _, given := range f.given {
		custom, err := f.loadOne(given)
		if err != nil {
			return &usageError{fmt.Errorf("--taxonomy: %w", err)}
		}
		f.loaded = append(f.loaded, custom)
	}
	if err := f.loadModels(); err != nil {
		return &usageError{fmt.Errorf("--model: %w", err)}
	}
	return nil
}

// files are the files of the taxonomies and of the models.
func (f *customFlags) files() []string {
	files := slices.Clone(f.models.given)
	for _, given := range f.given {
		if _, file, ok := strings.Cut(given, "="); ok {
			files = append(files, file)
		}
	}
	return files
}

func (f *customFlags) loadOne(given string) (*taxonomy.Custom, error) {
	name, file, _ := strings.Cut(given, "=")
	if !client.IsCustom(name) || file == "" {
		return nil, fmt.Errorf("%q must be %sNAME=FILE, the name of letters, digits, - and _", given, client.CustomPrefix)
	}
	if f.find(name) != nil {
		return nil, fmt.Errorf("%s is given twice: choose another name", name)
	}
	return loadCustom(name, file)
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

// taxonomies are the loaded taxonomies in the type of the service's options.
func (f *customFlags) taxonomies() []*taxonomy.Taxonomy {
	var list []*taxonomy.Taxonomy
	for _, custom := range f.loaded {
		list = append(list, &custom.Taxonomy)
	}
	return list
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

// fallback is the classification without --classification.
func (f *customFlags) fallback(kind client.Kind) string {
	return strings.Join(pipeline.DefaultClassifications(kind, f.loaded, f.models.loaded), ",")
}

// has refuses a custom classification whose taxonomy was not given.
func (f *customFlags) has(classification string) error {
	if client.IsCustom(classification) && f.find(classification) == nil {
		return fmt.Errorf("the embedded service does not have the classification %s: name a file of its categories with --taxonomy %s=FILE", classification, classification)
	}
	return nil
}
