package normalize

import (
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

// All spellings of a group have the same site.
var siteGroups = []struct {
	name      string
	site      string
	spellings []string
}{
	{"schemes, www, slash and query", "https://example.com", []string{
		"example.com", "http://example.com", "https://example.com", "www.example.com", "http://www.example.com/",
		"https://www.example.com:443", "http://example.com:80/", "example.com/?utm_source=x&utm_medium=y", "example.com#top",
		"//example.com", "HTTPS://WWW.Example.COM.", " example.com ", "https://example.com//", "www.www.example.com",
	}},
	{"the path and its case stay", "https://example.com/A/b", []string{
		"example.com/A/b", "http://www.example.com/A/b/", "https://example.com/A/b?page=2", "example.com/A/b/?q#f", "example.com/A/b//",
	}},
	{"the path's case tells pages apart", "https://example.com/a/b", []string{"example.com/a/b", "http://EXAMPLE.com/a/b/"}},
	{"escapes stay", "https://example.com/a%2Fb", []string{"example.com/a%2Fb", "http://example.com/a%2Fb/"}},
	{"a path in another script", "https://example.com/%C3%BC", []string{"example.com/ü", "http://example.com/%C3%BC/"}},
	{"a host below another", "https://blog.example.com", []string{"blog.example.com", "http://www.blog.example.com"}},
	{"another role", "https://www2.example.com", []string{"www2.example.com", "http://www2.example.com/"}},
	{"an international domain", "https://xn--mnchen-3ya.de", []string{"MÜNCHEN.de", "http://www.münchen.de", "xn--mnchen-3ya.de/", "ｗｗｗ.münchen.de"}},
	{"www below a top-level domain", "https://www.com", []string{"www.com", "http://www.com/", "www.www.com"}},
	{"www below a public suffix", "https://www.co.uk", []string{"www.co.uk", "http://www.co.uk"}},
	{"www below a domain of governments", "https://www.gov", []string{"www.gov", "http://www.gov/?a"}},
	{"www below an unknown domain", "https://www.example", []string{"www.example", "http://www.example"}},
	{"www below a wildcard", "https://www.foo.ck", []string{"www.foo.ck", "http://www.foo.ck"}},
	{"www of a wildcard's exception", "https://www.ck", []string{"www.ck", "http://www.ck/", "www.www.ck"}},
	{"a host for sites of others", "https://github.io", []string{"github.io", "http://www.github.io"}},
	{"one of these sites", "https://someone.github.io", []string{"someone.github.io", "https://www.someone.github.io"}},
	{"a second level of a country", "https://example.co.uk", []string{"example.co.uk", "http://www.example.co.uk"}},
	{"a port", "https://example.com:8443", []string{"example.com:8443", "https://www.example.com:8443/?q"}},
	{"a port keeps its scheme", "http://example.com:8080", []string{"http://example.com:8080", "http://www.example.com:8080/"}},
	{"the other scheme's port", "http://example.com:443", []string{"http://example.com:443/", "http://www.example.com:443"}},
	{"www below a public suffix with a port", "http://www.co.uk:81", []string{"http://www.co.uk:81/"}},
	{"an address keeps its scheme", "http://192.0.2.1/a", []string{"http://192.0.2.1/a/", "http://192.0.2.1:80/a?q"}},
	{"an address alone", "https://192.0.2.1", []string{"192.0.2.1", "https://192.0.2.1/"}},
	{"IPv6", "http://[2001:db8::1]", []string{"http://[2001:DB8::1]/?q"}},
	{"IPv6 with a port", "http://[2001:db8::1]:8080/a", []string{"http://[2001:db8::1]:8080/a/"}},
	{"IPv4 in IPv6", "http://[::ffff:192.0.2.1]", []string{"http://[::ffff:192.0.2.1]/"}},
	{"a name without a dot keeps its scheme", "http://intranet/wiki", []string{"http://intranet/wiki/"}},
	{"www alone", "http://www", []string{"http://www/"}},
	{"underscores", "https://my_site.example.com", []string{"www.my_site.example.com"}},
}

func TestSite(t *testing.T) {
	sites := make(map[string]string)
	for _, g := range siteGroups {
		t.Run(g.name, func(t *testing.T) {
			for _, spelling := range append(g.spellings, g.site) {
				if got := siteOf(t, Normalizer{}, spelling); got != g.site {
					t.Errorf("%q: got %q, want %q", spelling, got, g.site)
				}
			}
		})
		if other := sites[g.site]; other != "" {
			t.Errorf("%q and %q are one group", g.name, other)
		}
		sites[g.site] = g.name
	}
}

func siteOf(t *testing.T, n Normalizer, website string) string {
	t.Helper()
	r, err := n.Request(client.Website, website, client.NAICS)
	if err != nil {
		t.Fatal(err)
	}
	s := n.Site(r)
	if s.Kind != client.Website || s.Classification != client.NAICS {
		t.Errorf("%q became %+v", website, s)
	}
	return s.Input
}

// The Normalizer's scheme is the scheme of all sites.
func TestSiteScheme(t *testing.T) {
	for _, spelling := range []string{"example.com", "https://example.com", "http://www.example.com/?q"} {
		if got := siteOf(t, Normalizer{Scheme: "http"}, spelling); got != "http://example.com" {
			t.Errorf("%q: got %q", spelling, got)
		}
	}
}

func TestSiteOfAProduct(t *testing.T) {
	for _, input := range []string{"www.shoe?", "https://www.example.com/shoe/?id=1"} {
		r, err := Normalizer{}.Request(client.Product, input, client.ProductTaxonomy)
		if err != nil || (Normalizer{}).Site(r) != r {
			t.Errorf("%q became %q, %v", input, Normalizer{}.Site(r).Input, err)
		}
	}
}

// A site is a normalized request and its own site, and other spellings have the same site.
func FuzzSite(f *testing.F) {
	for _, g := range siteGroups {
		for _, s := range g.spellings {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, input string) {
		n := Normalizer{}
		r, err := n.Request(client.Website, input, client.TaxonomyV3)
		if err != nil {
			return
		}
		site := n.Site(r)
		again, err := n.Request(client.Website, site.Input, client.TaxonomyV3)
		if err != nil || again != site || n.Site(site) != site {
			t.Fatalf("%q has the site %q, which becomes %q, %v, and has the site %q", input, site.Input, again.Input, err, n.Site(site).Input)
		}
		if strings.Contains(site.Input, "?") || strings.HasSuffix(site.Input, "/") {
			t.Fatalf("%q has the site %q", input, site.Input)
		}
		scheme, rest, _ := strings.Cut(site.Input, "://")
		others := []string{site.Input + "/", site.Input + "?utm_source=x", site.Input + "//?q#f", strings.ToUpper(scheme) + "://" + rest}
		if host, _, _ := strings.Cut(rest, "/"); isDomain(host) && isRegistrable(host) && !strings.Contains(host, ":") {
			others = append(others, rest, "http://"+rest, "https://"+rest, "www."+rest, "http://www."+rest+"/")
		}
		for _, other := range others {
			o, err := n.Request(client.Website, other, client.TaxonomyV3)
			if err == nil && n.Site(o) != site {
				t.Fatalf("%q has the site %q, and %q has %q", input, site.Input, other, n.Site(o).Input)
			}
		}
	})
}

func TestHostAndDomain(t *testing.T) {
	for website, want := range map[string]struct{ host, domain string }{
		"example.com":                         {"https://example.com", "https://example.com"},
		"http://www.example.com/a/b?c":        {"https://example.com", "https://example.com"},
		"shop.example.com/a":                  {"https://shop.example.com", "https://example.com"},
		"https://a.b.example.co.uk":           {"https://a.b.example.co.uk", "https://example.co.uk"},
		"www.someone.github.io/page":          {"https://someone.github.io", "https://someone.github.io"},
		"github.io/page":                      {"https://github.io", "https://github.io"},
		"www.co.uk/a":                         {"https://www.co.uk", "https://www.co.uk"},
		"co.uk/a":                             {"https://co.uk", "https://co.uk"},
		"http://shop.example.com:8080/a":      {"http://shop.example.com:8080", "https://example.com"},
		"a.b.example":                         {"https://a.b.example", "https://b.example"},
		"http://192.0.2.1/a":                  {"http://192.0.2.1", "http://192.0.2.1"},
		"http://192.0.2.1:81/a":               {"http://192.0.2.1:81", "http://192.0.2.1:81"},
		"http://[2001:db8::1]:8080/a":         {"http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080"},
		"http://intranet/wiki":                {"http://intranet", "http://intranet"},
		"https://blog.m\u00fcnchen.de/\u00fc": {"https://blog.xn--mnchen-3ya.de", "https://xn--mnchen-3ya.de"},
	} {
		n := Normalizer{}
		r, err := n.Request(client.Website, website, client.NAICS)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Host(r).Input; got != want.host {
			t.Errorf("the host of %q is %q, want %q", website, got, want.host)
		}
		domain := n.Domain(r)
		if domain.Input != want.domain {
			t.Errorf("the domain of %q is %q, want %q", website, domain.Input, want.domain)
		}
		// Each step of a run leads to the same request.
		if stepwise := n.Domain(n.Host(n.Site(r))); stepwise != domain || n.Host(domain) != domain || n.Site(domain) != domain {
			t.Errorf("%q: %+v, and in steps %+v", website, domain, stepwise)
		}
	}
	product := client.Request{Kind: client.Product, Input: "https://shop.example.com/a"}
	if n := (Normalizer{}); n.Host(product) != product || n.Domain(product) != product {
		t.Error("a product has changed")
	}
}
