package page

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"html"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	long := strings.Repeat("Boots and shoes for every trail. ", 300)
	tests := []struct{ name, body, want string }{
		{"navigation and footer", "<nav>Menu</nav><p>Shoes</p><footer>Imprint</footer>", "Shoes"},
		{"navigation by its role", "<div role=navigation>Menu<div>More</div></div><p>Shoes</p><div role=contentinfo>Imprint</div>", "Shoes"},
		{"scripts, styles and templates", "<script>a<b</script><style>p{}</style><template><p>no</template><noscript>no</noscript>Shoes", "Shoes"},
		{"a script without an end", "Shoes<script>draw(", "Shoes"},
		{"a cookie banner", "<div id=cookie-banner>We use cookies<div>Accept</div></div><p>Shoes", "Shoes"},
		{"a banner by its class", "<section class='fixed Cookie_Notice'>We use cookies</section><p>Shoes", "Shoes"},
		{"a banner of a program", "<div id=onetrust-consent-sdk><div>Partners</div></div><div id=CybotCookiebotDialog>x</div><p>Shoes", "Shoes"},
		{"a banner by its role", "<div class=cookies role=dialog>We use cookies</div><p>Shoes", "Shoes"},
		{"a banner inside the text", "<p>Trail<div class=gdpr-popup><h2>Privacy</h2></div><p>shoes", "Trail shoes"},
		{"a bakery", "<div class='product-cookies'>Oatmeal cookies</div><div id=cookies>Chocolate cookies</div>", "Oatmeal cookies Chocolate cookies"},
		{"a page that says it has a banner", "<body class=cookie-banner-open><div class='page has-cookie-banner'>Shoes</div>", "Shoes"},
		{"a banner around everything", "<div class=cookie-wrapper>" + long + "</div><p>END", long + "END"},
		{"a banner without an end", "<div class=cookie-bar>We use cookies<p>Shoes", "We use cookies Shoes"},
		{"a banner without an end, before the main part", "<div class=cookie-bar>We use cookies<main><p>Shoes</main>", "Shoes"},
		{"nothing but a banner", "<div class=cookie-bar>We use cookies</div><div id=app></div>", ""},
		{"hidden elements", "<div hidden>no</div><div style='color:red; DISPLAY : none'>no</div><span style=visibility:hidden>no</span><p>Shoes", "Shoes"},
		{"an element hidden within another", "<div hidden>no<div>no</div>no</div><p>Shoes", "Shoes"},
		{"shown elements", "<div style='display:block'>Shoes</div><div style=''>and</div><div class=hidden-xs>boots</div>", "Shoes and boots"},
		{"a page that a program shows", "<body style=display:none><div style='display:none'>Shoes</div>", "Shoes"},
		{"a paragraph without an end is no container", "<p hidden>no<p>Shoes", "no Shoes"},
		{"words across inline elements", "<b>S</b>hoes<br>and<td>boots", "Shoes and boots"},
		{"alternative texts", "<img alt='Trail shoes'><img alt=''><img src=x>and boots", "Trail shoes and boots"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := readPage(strings.NewReader(tt.body), "text/html; charset=utf-8")
			if err != nil || page.Text != tt.want {
				t.Errorf("text %q, error %v; want %q", page.Text, err, tt.want)
			}
		})
	}
}

// TestEntities reads every character reference that HTML names.
func TestEntities(t *testing.T) {
	names := entityNames(t)
	if len(names) < 2000 {
		t.Fatalf("%d names, want over 2000", len(names))
	}
	for _, name := range names {
		source := "x&" + name + " y"
		want := fold([]byte(html.UnescapeString(source)), maxTitle)
		page, err := readPage(strings.NewReader("<title>"+source+"</title><h1>"+source+"</h1>"), "text/html; charset=utf-8")
		if err != nil || page.Title != want || page.Text != want || page.Headings[0] != want {
			t.Errorf("&%s: %+v, error %v; want %q", name, page, err, want)
		}
	}
}

// entityNames takes the names from the table of package html.
func entityNames(t *testing.T) (names []string) {
	t.Helper()
	pkg, err := build.Import("html", "", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, "entity.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.BasicLit); ok && key.Kind == token.STRING {
				name, err := strconv.Unquote(key.Value)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
		}
		return true
	})
	return names
}

func BenchmarkRead(b *testing.B) {
	shop, err := os.ReadFile("testdata/shop.html")
	if err != nil {
		b.Fatal(err)
	}
	// A shop's start page: 50 KB, most of them cards of products.
	card := `<div class="card product-card col-md-4" id="card-1"><h3 class="card-title">Trail running shoe</h3>
		<img class="card-img lazy" src="/img/1.jpg" alt="A shoe on a rock"><p class="card-text">Light and grippy, for wet rocks and roots.</p>
		<span class="price">&euro;99</span><a class="btn btn-primary" href="/p/1">Buy now</a></div>`
	body := append(shop, strings.Repeat(card, (50_000-len(shop))/len(card))...)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readPage(bytes.NewReader(body), "text/html; charset=utf-8"); err != nil {
			b.Fatal(err)
		}
	}
}
