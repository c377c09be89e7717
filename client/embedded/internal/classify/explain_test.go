package classify

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// explained are titles and texts of all kinds: several words, variants, words that
// are written apart or as one, brands, parents in the place of their children,
// nothing.
var explained = []string{
	"Apple iPhone 15 Pro 256GB smartphone", "Leather phone case for iPhone 14", "Women's floral summer dress", "Key chain",
	"Cotton T-Shirt (black, XL)", "Sports trading cards", "Dog collar with name tag, leather, brass", "Bedsheets", "Toys", "Furniture",
	"Furniture of Arden - LARK desk lamp", "Tables of oak | Toys of tin - dolls",
	"Book a room at our beach resort. Pool, spa and breakfast included, ten minutes from the airport.",
	"Our attorneys represent you in court. Personal injury, divorce and criminal defense lawyers.",
	"Bank holding company with retail banking, commercial lending and insurance segments",
	"vegetables fruit meat bread", "zzxqv", "", "\xff\xfe\x00", strings.Repeat("hotel rooms and flights ", 9_000),
}

func TestExplainTitle(t *testing.T) {
	for name, e := range engines() {
		for _, title := range explained {
			explainTitle(t, e, name, []Field{{Name: "title", Text: title}})
			explainTitle(t, e, name, []Field{{Name: "product", Text: "oak sofa"}, {Name: "title", Text: title}, {Name: "path", Text: ""}})
			explainTitle(t, e, name, []Field{{Name: "product", Text: "of"}, {Name: "title", Text: title}})
		}
	}
}

func explainTitle(t *testing.T, e *Engine, name string, parts []Field) {
	t.Helper()
	matches, contributions := e.Explain(Input{Title: parts}, 3)
	if want := e.matchTitle(Join(parts)); !reflect.DeepEqual(matches, want) {
		t.Errorf("%s, %.60q: explained %v, answered %v", name, Join(parts), matches, want)
	}
	checkContributions(t, e, Join(parts), matches, contributions)
}

func TestExplainWebsite(t *testing.T) {
	for name, e := range engines() {
		for _, text := range explained {
			page := []Field{{Text: "grand hotel", Weight: 3}, {Text: text, Weight: 1}, {Text: "unread", Weight: 0}}
			explainWebsite(t, e, name, "www.bestcarparts.co.uk", []string{"used", "tires"}, page)
			explainWebsite(t, e, name, "", nil, page)
			host := strings.Join(strings.Fields(text[:min(len(text), 100)]), "-") + ".edu"
			explainWebsite(t, e, name, host, strings.Fields(text), nil)
		}
	}
}

func explainWebsite(t *testing.T, e *Engine, name, host string, path []string, page []Field) {
	t.Helper()
	matches, contributions := e.Explain(Input{Host: host, Path: path, Page: named(page)}, 5)
	if want := e.matchWebsite(host, path, page, 5); !reflect.DeepEqual(matches, want) {
		t.Errorf("%s, %.40q: explained %v, answered %v", name, host, matches, want)
	}
	checkContributions(t, e, host, matches, contributions)
}

// named returns a page whose fields have names.
func named(page []Field) (list []Field) {
	for i, f := range page {
		f.Name = []string{"title", "text", "unread"}[i]
		list = append(list, f)
	}
	return list
}

// checkContributions checks that every match has contributions, in the order of the matches,
// whose shares add up to 1, and that their words are those of the category or its family.
func checkContributions(t *testing.T, e *Engine, text string, matches []Match, contributions []Contribution) {
	t.Helper()
	for _, m := range matches {
		share, last := 0.0, math.Inf(1)
		for len(contributions) > 0 && contributions[0].Category == m.Category {
			v := contributions[0]
			if v.Weight > last || v.Weight <= 0 || v.Share > 1+1e-9 {
				t.Errorf("%.40q: %+v after a weight of %v", text, v, last)
			}
			if v.Words == "" || len(v.Fields) == 0 || slices.Contains(v.Fields, "unread") {
				t.Errorf("%.40q: a contribution without a source: %+v", text, v)
			}
			if !e.taxonomy.AreKin(int32(v.Category), int32(v.Speaker)) {
				t.Errorf("%.40q: a stranger speaks: %+v", text, v)
			}
			share, last, contributions = share+v.Share, v.Weight, contributions[1:]
		}
		if math.Abs(share-1) > 1e-9 {
			t.Errorf("%.40q: the shares of category %d add up to %v", text, m.Category, share)
		}
	}
	if len(contributions) > 0 {
		t.Errorf("%.40q: contributions to what was not answered: %+v", text, contributions)
	}
}

// A score is the sum of its summands times a factor that depends only on the top level and, in a
// title, on the depth.
func TestSummandsAreTheScore(t *testing.T) {
	e := engines()["products"]
	for _, text := range explained {
		title := newScratch(e.index, len(e.taxonomy.Categories))
		e.scoreTitle(title, text)
		x := explainer{Engine: e, s: title, ranked: slices.Clone(title.ranked)}
		x.checkFactors(t, "title "+text, x.titleSummands, func(c int32) int { return e.taxonomy.Categories[c].Depth })

		page := newScratch(e.index, len(e.taxonomy.Categories))
		e.scoreWebsite(page, "oaktables.example", []string{"hoses"}, []Field{{Text: text, Weight: 1}, {Text: "sofa bed", Weight: 2}})
		x = explainer{Engine: e, s: page, ranked: slices.Clone(page.ranked)}
		x.ranked = x.ranked[:min(len(x.ranked), 50)]
		summands := func(c int32) []summand { return x.websiteSummands(c, inherited) }
		x.checkFactors(t, "page "+text, summands, func(int32) int { return 0 })
	}
}

// checkFactors checks that the categories of a top level and group have the same factor.
func (x *explainer) checkFactors(t *testing.T, name string, summands func(int32) []summand, group func(int32) int) {
	t.Helper()
	factors := make(map[[2]int]float64)
	for _, r := range x.ranked {
		total := 0.0
		for _, v := range summands(r.category) {
			total += v.worth
		}
		key := [2]int{int(x.top[r.category]), group(r.category)}
		factor := float64(r.score) / total
		if first, ok := factors[key]; ok && math.Abs(factor/first-1) > 1e-4 {
			t.Errorf("%.40q: %s has a factor of %v, and others under its top level %v", name, x.taxonomy.Categories[r.category].Path, factor, first)
		}
		factors[key] = factor
	}
}

func TestExplainTellsWhereAndWhy(t *testing.T) {
	tests := []struct {
		name  string
		host  string
		page  []Field
		words string
		in    []string
	}{
		{"host and page", "cheap-hotels.example", []Field{{Text: "A hotel with a spa", Weight: 3}, {Text: "Hotel", Weight: 1}}, "hotels", []string{"host", "title", "text"}},
		{"host alone", "cheaphotels.example", nil, "hotels", []string{"host"}},
		{"top-level domain", "acme.travel", nil, "travel", []string{"domain"}},
		{"page alone", "acme.example", []Field{{Text: "", Weight: 3}, {Text: "Hôtels", Weight: 1}}, "hotels", []string{"text"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, contributions := engines()["iab"].Explain(Input{Host: tt.host, Page: named(tt.page)}, 1)
			if len(contributions) == 0 {
				t.Fatal("no contributions")
			}
			if first := contributions[0]; first.Words != tt.words || !slices.Equal(first.Fields, tt.in) {
				t.Errorf("the first contribution is %+v, want %s of %v", first, tt.words, tt.in)
			}
		})
	}
}

func TestExplainWordsApart(t *testing.T) {
	c := readCustom(t, "path\nKeychains\nBed Sheets\nBags")
	for title, want := range map[string]string{"Leather key chain": "key chain", "bedsheets": "bedsheets"} {
		_, contributions := New(&c.Taxonomy).Explain(Input{Title: []Field{{Name: "title", Text: title}}}, 3)
		if len(contributions) != 1 || contributions[0].Words != want || !slices.Equal(contributions[0].Fields, []string{"title"}) {
			t.Errorf("%q: contributions %+v, want %q alone", title, contributions, want)
		}
	}
}

// A parent that replaces its children is explained by a child.
func TestExplainParent(t *testing.T) {
	c := readCustom(t, "path\nBoats\nBoats > Oars\nBoats > Oars > Red Widget\nBoats > Oars > Blue Widget\nCars")
	e := New(&c.Taxonomy)
	matches, contributions := e.Explain(Input{Title: []Field{{Name: "title", Text: "widget"}}}, 3)
	if len(matches) != 1 || c.Categories[matches[0].Category].Path != "Boats > Oars" {
		t.Fatalf("%v, want the parent of the two widgets", matches)
	}
	checkContributions(t, e, "widget", matches, contributions)
	if len(contributions) != 1 || c.Categories[contributions[0].Speaker].Name != "Red Widget" {
		t.Errorf("contributions %+v, want the first widget's", contributions)
	}
}

func FuzzExplain(f *testing.F) {
	for _, text := range explained[:len(explained)-1] {
		f.Add(text, "oak sofa", "www.garden-hoses.example")
		f.Add("of", text, text)
	}
	f.Fuzz(func(t *testing.T, first, second, host string) {
		e := engines()["products"]
		explainTitle(t, e, "products", []Field{{Name: "product", Text: first}, {Name: "title", Text: second}})
		explainWebsite(t, e, "products", host, []string{first}, []Field{{Text: second, Weight: 2}})
	})
}
