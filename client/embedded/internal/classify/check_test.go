package classify

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

func readCustom(t *testing.T, text string) *taxonomy.Custom {
	t.Helper()
	c, err := taxonomy.ReadCustom("product_taxonomy_custom_test", "test.csv", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string // "line: what the finding holds"
	}{
		{"nothing", "path,aliases\nFurniture,\nFurniture > Sofas,couch\nFurniture > Chairs,seat", nil},
		{"siblings spelled in two ways", "path\nSofa Bed\nSofa-Beds", []string{`3: "Sofa-Beds" cannot be told apart from "Sofa Bed" (line 2)`}},
		{"an accent and a British spelling", "path\nCafé Jewellery\nCAFE JEWELRY", []string{`3: "CAFE JEWELRY" cannot be told apart from "Café Jewellery" (line 2)`}},
		{"under two parents", "path\nMen\nMen > Shirts\nGirls\nGirls > Shirt", []string{`5: "Girls > Shirt" cannot be told apart from "Men > Shirts" (line 3)`}},
		{"told apart by an alias", "path,aliases\nSofa Bed,\nSofa Beds,futon", nil},
		{"no words", "path\nThe Other\n&", []string{`2: no text matches "The Other"`, `3: no text matches "&"`}},
		{"no words but an alias", "path,aliases\nOther,bric-a-brac", nil},
		{"alias is another's name", "path,aliases\nSofas,settee|Arm Chair\nArm Chairs,", []string{`2: the alias "Arm Chair" of "Sofas" is the name of "Arm Chairs" (line 3)`}},
		{"alias is its own name", "path,aliases\nSofas,sofa", nil},
		{"alias without words", "path,aliases\nSofas,the", []string{`2: the alias "the" has no words`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := Check(readCustom(t, tt.text))
			if len(found) != len(tt.want) {
				t.Fatalf("%d findings, want %d: %v", len(found), len(tt.want), found)
			}
			for i, f := range found {
				if got := fmt.Sprintf("%d: %s", f.Line, f.Problem); !strings.HasPrefix(got, tt.want[i]) {
					t.Errorf("got  %s\nwant %s", got, tt.want[i])
				}
			}
		})
	}
}

// Two categories that Check reports as equal get the same score from an engine; only their order
// in the taxonomy decides which comes first.
func TestCheckAgreesWithTheEngine(t *testing.T) {
	c := readCustom(t, "path\nJewellery Boxes\nJewelry Box\nLamps")
	matches := New(&c.Taxonomy).matchTitle("jewelry box of walnut")
	if len(matches) < 2 || matches[0].Confidence != matches[1].Confidence {
		t.Errorf("%v, want two categories with one confidence", matches)
	}
	if found := Check(c); len(found) != 1 {
		t.Errorf("findings %v", found)
	}
}

func TestTerms(t *testing.T) {
	for text, want := range map[string][]string{
		"Women's Café Chairs": {"woman", "cafe", "chair"},
		"The Other":           nil,
		"T-Shirts & Jewelers": {"tshirt", "jeweler"},
		"":                    nil,
	} {
		if got := words.Terms(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Answers in a small taxonomy are as confident as in a large one.
func TestSmallTaxonomy(t *testing.T) {
	c := readCustom(t, "path\nSofas\nDining Chairs")
	matches := New(&c.Taxonomy).matchTitle("Velvet sofa, green")
	if len(matches) != 1 || c.Categories[matches[0].Category].Path != "Sofas" || matches[0].Confidence < 0.5 {
		t.Errorf("%v, want the sofas with a confidence over one half", matches)
	}
}
