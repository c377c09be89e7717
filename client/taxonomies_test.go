package client

import (
	"slices"
	"testing"
)

func TestParseClassifications(t *testing.T) {
	for _, tt := range []struct {
		kind Kind
		text string
		want []string // nil for a name that is refused
	}{
		{Website, "naics", []string{NAICS}},
		{Website, "naics,taxonomy_v3", []string{NAICS, TaxonomyV3}},
		{Product, "product_taxonomy,product_taxonomy_custom_a", []string{ProductTaxonomy, CustomPrefix + "a"}},
		{Website, "naics,naics", nil},
		{Website, "naics,product_taxonomy", nil},
		{Website, "naics, taxonomy_v3", nil},
		{Website, "naics,", nil},
		{Website, "", nil},
	} {
		if got, err := ParseClassifications(tt.kind, tt.text); !slices.Equal(got, tt.want) || (err == nil) != (tt.want != nil) {
			t.Errorf("%q: %q, %v", tt.text, got, err)
		}
	}
}

func TestCheckClassification(t *testing.T) {
	for _, tt := range []struct {
		kind Kind
		name string
		ok   bool
	}{
		{Website, "taxonomy_v3", true},
		{Website, "naics", true},
		{Website, "product_taxonomy", false},
		{Product, "product_taxonomy", true},
		{Product, "product_taxonomy_custom_acme", true},
		{Product, "product_taxonomy_custom_", false},
		{Product, "product_taxonomy_custom_a b", false},
		{Product, "naics", false},
		{Product, "", false},
	} {
		if err := CheckClassification(tt.kind, tt.name); (err == nil) != tt.ok {
			t.Errorf("%s %q: %v", tt.kind, tt.name, err)
		}
	}
}

func TestClassifications(t *testing.T) {
	for kind, want := range map[Kind][]string{
		Website: {TaxonomyV3, NAICS}, Product: {ProductTaxonomy}, "": {ProductTaxonomy}, "other": {ProductTaxonomy},
	} {
		if got := Classifications(kind); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", kind, got, want)
		}
	}
	if got := Codes()[NAICS](nil, "541511", 3); !slices.Equal(got, []string{"54", "541", "5415"}) || len(Codes()) != 1 {
		t.Errorf("levels %q, %d classifications with codes", got, len(Codes()))
	}
}
