package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// customFlags are the taxonomies that the embedded service is to answer in beside its
// own.
type customFlags struct {
	given  []string // NAME=FILE
	loaded []*taxonomy.Custom
}

func (f *customFlags) bind(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.given, "taxonomy", nil, "let the embedded service answer in a product taxonomy of your own, `NAME=FILE`, where NAME is "+client.CustomPrefix+"...; may be given several times")
}

// load reads the files. The errors are of the usage.
func (f *customFlags) load() error {
	f.loaded = nil
	for _, given := range f.given {
		custom, err := f.loadOne(given)
		if err != nil {
			return &usageError{fmt.Errorf("--taxonomy: %w", err)}
		}
		f.loaded = append(f.loaded, custom)
	}
	return nil
}

func (f *customFlags) loadOne(given string) (*taxonomy.Custom, error) {
	name, file, _ := strings.Cut(given, "=")
	if !isCustom(name) || file == "" {
		return nil, fmt.Errorf("%q must be %sNAME=FILE, the name of letters, digits, - and _", given, client.CustomPrefix)
	}
	if f.find(name) != nil {
		return nil, fmt.Errorf("%s is given twice: choose another name", name)
	}
	return taxonomy.LoadCustom(name, file)
}

func isCustom(classification string) bool {
	return classification != client.ProductTaxonomy && client.CheckClassification(client.Product, classification) == nil
}

func (f *customFlags) find(name string) *taxonomy.Custom {
	for _, custom := range f.loaded {
		if custom.Name == name {
			return custom
		}
	}
	return nil
}

// taxonomies are the loaded ones as the service takes them.
func (f *customFlags) taxonomies() []*taxonomy.Taxonomy {
	var list []*taxonomy.Taxonomy
	for _, custom := range f.loaded {
		list = append(list, &custom.Taxonomy)
	}
	return list
}

var errHostedTaxonomy = errors.New("--taxonomy is for the embedded service: a hosted one has its own; leave out --taxonomy or the base URL")

// source names the embedded service's answers in a classification. Those in a custom
// taxonomy are another source after every change of the file, so that neither stored
// answers nor the parts of an output outlive it.
func (f *customFlags) source(classification string) string {
	const source = "embedded"
	if custom := f.find(classification); custom != nil {
		return source + "+" + custom.Fingerprint()
	}
	return source
}

// has refuses a custom classification whose taxonomy was not given.
func (f *customFlags) has(classification string) error {
	if isCustom(classification) && f.find(classification) == nil {
		return fmt.Errorf("the embedded service does not have the classification %s: name a file of its categories with --taxonomy %s=FILE", classification, classification)
	}
	return nil
}
