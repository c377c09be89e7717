package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSchema(t *testing.T) {
	ld := func(json string) string { return `<script type="application/ld+json">` + json + `</script>` }
	tests := []struct {
		name, body string
		want       Page
	}{
		{"a product", ld(`{"@context":"https://schema.org","@type":"Product","name":"Trail shoe &amp; sock","category":"Shoes > Running"}`),
			Page{Product: "Trail shoe & sock", Category: "Shoes > Running"}},
		{"the first of several products", ld(`[{"@type":"Product","name":"A"},{"@type":"Product","name":"B","category":"C"}]`),
			Page{Product: "A"}},
		{"a category that is an object", ld(`{"@type":["Thing","schema:Product"],"name":["Sofa"],"category":[{"@type":"Thing","name":"Sofas"}]}`),
			Page{Product: "Sofa", Category: "Sofas"}},
		{"a group of variants", ld(`{"@type":"ProductGroup","name":"Shoe","hasVariant":[{"@type":"Product","name":"Shoe, red"}]}`),
			Page{Product: "Shoe"}},
		{"other products of the same page", ld(`{"@type":"WebPage","mainEntity":{"@type":"Product","name":"A","isRelatedTo":{"@type":"Product","name":"B"}}}`),
			Page{Product: "A"}},
		{"a graph", ld(`{"@graph":[{"@type":"WebSite","name":"Northmoor"},{"@type":"BreadcrumbList","itemListElement":[
			{"@type":"ListItem","position":3,"name":"Trail"},
			{"@type":"ListItem","position":1,"item":{"@id":"/","name":"Home"}},
			{"@type":"ListItem","position":2,"item":{"@id":"/shoes","name":"Shoes"}}]}]}`),
			Page{SiteName: "Northmoor", Breadcrumb: []string{"Shoes", "Trail"}}},
		{"a second breadcrumb", ld(`{"@type":"BreadcrumbList","itemListElement":[{"name":"A"}]}`) + ld(`{"@type":"BreadcrumbList","itemListElement":[{"name":"B"}]}`),
			Page{Breadcrumb: []string{"A"}}},
		{"a breadcrumb of one item", ld(`{"@type":"BreadcrumbList","itemListElement":{"item":"https://example.com/","name":"Shoes"}}`),
			Page{Breadcrumb: []string{"Shoes"}}},
		{"a business", ld(`{"@type":["AutoRepair","LocalBusiness"],"name":"Harbour Garage"}`), Page{Types: []string{"Auto Repair"}, SiteName: "Harbour Garage"}},
		{"types with capitals", ld(`{"@type":["HVACBusiness","https://schema.org/BarOrPub","HVACBusiness"]}`), Page{Types: []string{"HVAC Business", "Bar Or Pub"}}},
		{"an article", ld(`{"@type":"NewsArticle","articleSection":["Sport","Football"]}`), Page{Section: "Sport"}},
		{"line breaks within a string", ld("{\"@type\":\"Product\",\n\"name\":\"Trail\n\tshoe\"}"), Page{Product: "Trail shoe"}},
		{"comments for old browsers", ld("<!--//<![CDATA[\n{\"@type\":\"Product\",\"name\":\"A\"};\n//]]>-->"), Page{Product: "A"}},
		{"a broken object after a good one", ld(`{"@type":"Product","name":"A"}{"@type":`), Page{Product: "A"}},
		{"a broken object", ld(`{"@type":"Product","name":"A",}`), Page{}},
		{"not an object", ld(`"Product"`), Page{}},
		{"another kind of script", `<script type="application/json">{"@type":"Product","name":"A"}</script>`, Page{}},
		{"a script in the footer", "<footer>" + ld(`{"@type":"Product","name":"A"}`) + "</footer>", Page{Product: "A"}},
		{"Open Graph", `<meta property=og:site_name content=Northmoor><meta property=og:type content=restaurant.menu><meta property=article:section content=Food>`,
			Page{SiteName: "Northmoor", Section: "Food", Types: []string{"restaurant menu"}}},
		{"Open Graph of any page", `<meta property=og:type content=website>`, Page{}},
		{"microdata", `<div itemscope itemtype="https://schema.org/Product"><h2 itemprop="name">Trail <b>shoe</b></h2><meta itemprop=category content="Shoes">
			<div itemprop=brand itemtype=http://schema.org/Brand><span itemprop=name>Northmoor</span></div></div>`,
			Page{Product: "Trail shoe", Category: "Shoes", Headings: []string{"Trail shoe"}, Text: "Trail shoe Northmoor"}},
		{"a breadcrumb in microdata", `<nav><ol itemscope itemtype="http://schema.org/BreadcrumbList">
			<li itemprop="itemListElement" itemtype="http://schema.org/ListItem"><a itemprop=item href=/><span itemprop="name">Home</span></a></li>
			<li itemprop="itemListElement" itemtype="http://schema.org/ListItem"><a itemprop=item href=/s><span itemprop="name">Shoes</span></a></li></ol></nav>`,
			Page{Breadcrumb: []string{"Shoes"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readPage(strings.NewReader(tt.body), "text/html; charset=utf-8")
			if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tt.want) {
				t.Errorf("got  %+v\nwant %+v, error %v", got, tt.want, err)
			}
		})
	}
}

func TestSchemaIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"@graph":`, 20_000)
	crumbs := `{"@type":"BreadcrumbList","itemListElement":[` + strings.Repeat(`{"name":"Shoes"},`, 1000) + `{"name":"Boots"}]}`
	huge := strings.Repeat(" ", maxJSON) + `{"@type":"Product","name":"late"}`
	page, err := readPage(strings.NewReader("<script type=application/ld+json>"+strings.Join([]string{deep, crumbs, huge}, "</script><script type=application/ld+json>")), "")
	if err != nil || len(page.Breadcrumb) != maxCrumbs || page.Product != "" {
		t.Errorf("%d crumbs, product %q, error %v", len(page.Breadcrumb), page.Product, err)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"@graph":[{"@type":"Product","name":"A","category":{"name":"B"}},{"@type":"BreadcrumbList","itemListElement":[{"position":1,"name":"C"}]}]}`))
	f.Add([]byte("[{\"@type\":[\"NewsArticle\",1],\"articleSection\":[[\"\\ud800\"]]}, {\"@type\":\"X\xff\"}"))
	f.Add([]byte(`{"@type":"BreadcrumbList","itemListElement":[{"position":1e308,"name":"a"},{"position":-1e308,"name":"b"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s schema
		s.readJSON(slices.Clone(text))
		var page Page
		s.fill(&page)
		for _, part := range slices.Concat(page.Types, page.Breadcrumb, []string{page.Product, page.Category, page.SiteName, page.Section}) {
			if !utf8.ValidString(part) || len(part) > maxName || part != strings.Join(strings.Fields(part), " ") {
				t.Errorf("part %q is not folded, bounded text", part)
			}
		}
	})
}
