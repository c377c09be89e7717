package client

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of an input. The service has an operation for each kind.
type Kind string

// The two kinds of inputs.
const (
	Website Kind = "website"
	Product Kind = "product"
)

// Known reports whether k is one of the two kinds.
func (k Kind) Known() bool { return k == Website || k == Product }

// Request asks the service for the categories of an input in a classification. It is comparable, and is
// the key of deduplication and of the store: equal requests have equal answers.
type Request struct {
	Kind           Kind
	Input          string // normalized: see package client/normalize
	Classification string
}

// CheckClassification returns an error if kind has no classification of that name. The error lists the
// classifications that kind has.
func CheckClassification(kind Kind, name string) error {
	known := Classifications(kind)
	if slices.Contains(known, name) || kind == Product && IsCustom(name) {
		return nil
	}
	if kind == Product {
		known = append(known, CustomPrefix+"NAME")
	}
	return fmt.Errorf("a %s has no classification %q: choose %s", kind, name, strings.Join(known, " or "))
}

// IsCustom reports whether a classification is custom.
func IsCustom(classification string) bool {
	name, ok := strings.CutPrefix(classification, CustomPrefix)
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// ParseClassifications splits a list of classifications of a kind at its commas. The error says which name
// is unknown or repeated.
func ParseClassifications(kind Kind, text string) ([]string, error) {
	names := strings.Split(text, ",")
	for i, name := range names {
		if err := CheckClassification(kind, name); err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s is repeated: name each classification once", name)
		}
	}
	return names, nil
}
