package embedded

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Explain returns the answer that is served, and the shares of the contributions add up to 1.
func TestExplain(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<title>Grand Palm Hotel</title><meta name="description" content="Book a hotel room"><h1>Leather sofa</h1><p>pool and spa</p>`)
	}))
	defer site.Close()
	reading := New(Options{Logger: quiet, Fetch: page.New(page.Options{Mode: page.Always, AllowPrivate: true, Logger: quiet})})
	for _, tt := range []struct {
		name, path, param, classification, input string
		service                                  *Service
		cost                                     string
	}{
		{"a website", WebsitePath, "url", "taxonomy_v3", "https://www.cheap-hotels.example/spa/index.html", shared, CostNone},
		{"a website with a page", WebsitePath, "url", "taxonomy_v3", site.URL + "/restaurants", reading, CostPage},
		{"a company", WebsitePath, "url", "naics", "http://northmoor-dentist.example", shared, CostNone},
		{"a company with a page", WebsitePath, "url", "naics", site.URL, reading, CostPage},
		{"a website that tells nothing", WebsitePath, "url", "taxonomy_v3", "http://zzxqv.example", shared, CostNone},
		{"a title", ProductPath, "query", "product_taxonomy", "Men's trail running shoes, size 10", shared, CostNone},
		{"words for something", ProductPath, "query", "product_taxonomy", "Dog key chain with leather collar", shared, CostNone},
		{"a parent", ProductPath, "query", "product_taxonomy", "Sports trading cards and accessories", shared, CostNone},
		{"a product's URL", ProductPath, "query", "product_taxonomy", "https://shop.example/products/leather-sofa-42.html", shared, CostNone},
		{"a product's page", ProductPath, "query", "product_taxonomy", site.URL + "/furniture/fauteuil", reading, CostPage},
		{"a title that tells nothing", ProductPath, "query", "product_taxonomy", "zzxqv", shared, CostNone},
		{"the standard", ProductPath, "query", "", "garden hose", shared, CostNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.service.Explain(t.Context(), client.Request{Kind: kindOf(tt.path), Classification: tt.classification, Input: tt.input})
			if err != nil {
				t.Fatal(err)
			}
			served := get(t, tt.service, tt.path, tt.param, tt.input, "classification", tt.classification)
			if string(got.Answer) != served.body || served.cost != tt.cost || got.PageRead != (tt.cost == CostPage) {
				t.Errorf("explained %s (page read: %v)\nserved    %s (%s), want %s", got.Answer, got.PageRead, served.body, served.cost, tt.cost)
			}
			name := tt.classification
			if name == "" {
				name = "product_taxonomy"
			}
			checkContributions(t, got.Contributions, served.entries(t, name))
		})
	}
}

func kindOf(path string) client.Kind {
	if path == ProductPath {
		return client.Product
	}
	return client.Website
}

// checkContributions checks that every entry has contributions, in the order of the entries.
func checkContributions(t *testing.T, contributions []Contribution, entries []entry) {
	t.Helper()
	var values []string
	shares := map[string]float64{}
	for _, c := range contributions {
		if c.Words == "" || len(c.Fields) == 0 || c.Weight <= 0 || c.Speaker == "" {
			t.Errorf("a contribution without substance: %+v", c)
		}
		if !slices.Contains(values, c.Value) {
			values = append(values, c.Value)
		}
		shares[c.Value] += c.Share
	}
	if len(values) != len(entries) {
		t.Fatalf("contributions to %q, want them to %v", values, entries)
	}
	for i, e := range entries {
		if values[i] != e.Value || math.Abs(shares[e.Value]-1) > 1e-9 {
			t.Errorf("entry %d is %q, the contributions are to %q with shares of %v", i+1, e.Value, values[i], shares[e.Value])
		}
	}
}

func TestExplainErrors(t *testing.T) {
	for _, tt := range []struct{ classification, input, want string }{
		{"", "http://a.example", "classification"},
		{"product_taxonomy", "http://a.example", "no classification"},
		{"naics", "a.example", "http://"},
	} {
		if _, err := shared.Explain(t.Context(), client.Request{Kind: client.Website, Classification: tt.classification, Input: tt.input}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: error %v, want one with %q", tt.classification, tt.input, err, tt.want)
		}
	}
}

// Every field has the name of its part of the page.
func TestFieldNames(t *testing.T) {
	p := page.Page{
		Title: "title", OGTitle: "og:title", Description: "description", OGDescription: "og:description", Keywords: "keywords",
		Types: []string{"type"}, Section: "section", SiteName: "site name", Breadcrumb: []string{"breadcrumb"},
		Headings: []string{"headings"}, Text: "text",
	}
	fields := websiteFields(p)
	p.Headings, p.Product, p.Category = []string{"heading"}, "product", "category"
	titles := productTitles(p)
	for _, part := range slices.Concat(fields, titles) {
		if part.Text != part.Name {
			t.Errorf("the page's %s is called %s", part.Text, part.Name)
		}
	}
	if len(fields) != 11 || len(titles) != 6 {
		t.Errorf("fields %v, want 11; titles %v, want 6", fields, titles)
	}
}

// Contributions of a page name its parts.
func TestExplainPage(t *testing.T) {
	pages := map[string]string{
		"/hotels":    `<title>Grand Palm Hotel</title><meta name="description" content="Book a hotel room">`,
		"/sofas/red": `<title>Sofa, red - Acme</title><h1>Leather sofa</h1>`,
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, pages[r.URL.Path])
	}))
	defer site.Close()
	s := New(Options{Logger: quiet, Fetch: page.New(page.Options{Mode: page.Always, AllowPrivate: true, Logger: quiet})})
	for _, tt := range []struct {
		path, classification, input, words string
		fields                             []string
	}{
		{WebsitePath, "taxonomy_v3", site.URL + "/hotels", "hotels", []string{"path", "title", "description"}},
		{ProductPath, "product_taxonomy", site.URL + "/sofas/red", "sofa", []string{"heading", "title", "path"}},
	} {
		got, err := s.Explain(t.Context(), client.Request{Kind: kindOf(tt.path), Classification: tt.classification, Input: tt.input})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Contributions) == 0 {
			t.Fatalf("%s: no contributions to %s", tt.input, got.Answer)
		}
		if first := got.Contributions[0]; first.Words != tt.words || !slices.Equal(first.Fields, tt.fields) {
			t.Errorf("%s: the first contribution is %+v, want %s of %v", tt.input, first, tt.words, tt.fields)
		}
	}
}

func TestCustom(t *testing.T) {
	custom, err := taxonomy.ReadCustom("product_taxonomy_custom_acme", "acme.csv", strings.NewReader(
		"path,id,aliases\nSeating > Sofas,7,couch|settee\nSeating > Chairs,8,\nLighting > Lamps & <Bulbs,9,\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Custom: []*taxonomy.Custom{custom}, Logger: quiet})
	for title, want := range map[string]string{
		"Velvet settee with two pillows": "Seating > Sofas",
		"Dining chair, oak":              "Seating > Chairs",
		"Desk lamp":                      "Lighting > Lamps & <Bulbs",
	} {
		list := get(t, s, ProductPath, "query", title, "classification", custom.Name).entries(t, custom.Name)
		if len(list) == 0 || list[0].Value != want {
			t.Errorf("%q: %v, want %q", title, list, want)
		}
	}
	if a := get(t, s, ProductPath, "query", "sofa"); !strings.HasPrefix(a.body, `{"product_taxonomy":[`) {
		t.Errorf("the default is not product_taxonomy any more: %s", a.body)
	}
	if a := get(t, s, WebsitePath, "url", "http://sofa.example", "classification", custom.Name); a.status != http.StatusNotFound {
		t.Errorf("a website is asked for a taxonomy of products: %+v", a)
	}
	if a := get(t, s, ProductPath, "query", "sofa", "classification", "product_taxonomy_custom_other"); a.status != http.StatusNotFound || !strings.Contains(a.body, custom.Name) {
		t.Errorf("an unknown classification: %+v", a)
	}
}

// The findings of the file and of the words are in the order of their lines.
func TestCheckTaxonomyOrder(t *testing.T) {
	c, err := taxonomy.ReadCustom("product_taxonomy_custom_x", "x.csv", strings.NewReader("path,id\n...,1\nSofas,2\nSofas,3\nB > C,2\n***,4\n"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, f := range CheckTaxonomy(c) {
		lines = append(lines, f.Line)
	}
	if want := []int{2, 4, 5, 5, 6}; !slices.Equal(lines, want) {
		t.Errorf("findings on the lines %v, want %v", lines, want)
	}
}
