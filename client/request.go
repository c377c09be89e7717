package client

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what an input names, and with it the operation that is asked.
type Kind string

// The two kinds of inputs.
const (
	Website Kind = "website"
	Product Kind = "product"
)

// The classifications that every service knows. A product may also be asked for a
// custom one, whose name starts with CustomPrefix.
const (
	TaxonomyV3      = "taxonomy_v3"
	NAICS           = "naics"
	ProductTaxonomy = "product_taxonomy"
	CustomPrefix    = ProductTaxonomy + "_custom_"
)

// Request is one question to the service. It is comparable, and equal requests have
// equal answers: the key of deduplication, of the store and of the audit.
type Request struct {
	Kind           Kind
	Input          string // normalized: see Normalizer
	Classification string
}

// Classifications are the names that a kind may be asked for, the default first.
func Classifications(kind Kind) []string {
	if kind == Website {
		return []string{TaxonomyV3, NAICS}
	}
	return []string{ProductTaxonomy}
}

// CheckClassification says whether a kind can be asked for a classification.
func CheckClassification(kind Kind, name string) error {
	known := Classifications(kind)
	for _, k := range known {
		if name == k {
			return nil
		}
	}
	if kind == Product {
		if custom, ok := strings.CutPrefix(name, CustomPrefix); ok && isIdentifier(custom) {
			return nil
		}
		known = append(known, CustomPrefix+"NAME")
	}
	return fmt.Errorf("a %s has no classification %q: choose %s", kind, name, strings.Join(known, " or "))
}

// ParseClassifications reads the names, with a comma between, of what a kind is to be asked for.
func ParseClassifications(kind Kind, text string) ([]string, error) {
	names := strings.Split(text, ",")
	for i, name := range names {
		if err := CheckClassification(kind, name); err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s is named twice: each classification is asked for once", name)
		}
	}
	return names, nil
}

func isIdentifier(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
