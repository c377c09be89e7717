package normalize

import (
	"errors"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

// The lines of lists have a website, or a reason that fits.
func TestWebsitesOfLists(t *testing.T) {
	for input, want := range map[string]string{
		".example.com":                                     "https://example.com",
		"*.example.com":                                    "https://example.com",
		"example.com # a note":                             "https://example.com",
		"0.0.0.0 ads.example.com":                          "https://ads.example.com",
		"127.0.0.1\told.example.org  # x":                  "https://old.example.org",
		"hxxp://example.com/a":                             "http://example.com/a",
		"hXXps[:]//example[.]com":                          "https://example.com",
		"example[.]com":                                    "https://example.com",
		"example[dot]com":                                  "https://example.com",
		"- [Example](https://example.com/a)":               "https://example.com/a",
		"* example.com":                                    "https://example.com",
		"12. example.com":                                  "https://example.com",
		`"https://example.com"`:                            "https://example.com",
		"<https://example.com>":                            "https://example.com",
		`"example.com",`:                                   "https://example.com",
		"example.com;":                                     "https://example.com",
		`"https://example.com/a,b",`:                       "https://example.com/a,b",
		"https://example.com/a,":                           "https://example.com/a,",
		"'example.com'":                                    "https://example.com",
		"https://example.com/a,b":                          "https://example.com/a,b",
		"example.com.org":                                  "https://example.com.org",
		"example.company.org":                              "https://example.company.org",
		"art.comart.org":                                   "https://art.comart.org",
		"example.com.example.org":                          "https://example.com.example.org",
		"example.com/comexample.org":                       "https://example.com/comexample.org",
		"https://example.com/a;b=1|c":                      "https://example.com/a;b=1%7Cc",
		"https://web.example.com/2020/http://example.org/": "https://web.example.com/2020/http://example.org/",
		"https://example.com/?to=https://example.org":      "https://example.com/?to=https://example.org",
	} {
		r, err := Normalizer{}.Request(client.Website, input, client.NAICS)
		if err != nil || r.Input != want {
			t.Errorf("%q: got %q, %v; want %q", input, r.Input, err, want)
		}
	}
	for input, want := range map[string]error{
		"a.example.com,b.example.com":                    errSeveral,
		"a.example.com;b.example.com":                    errSeveral,
		"a.example.com|b.example.com":                    errSeveral,
		"a.example.com b.example.com":                    errSeveral,
		"https://a.example.com/x,https://b.example.com":  errSeveral,
		"https://a.example.com/x, b.example.com/y":       errSeveral,
		"https://a.example.com, https://b.example.com":   errSeveral,
		"https://a.example.com/x\nhttps://b.example.com": errSeveral,
		"https://a.example.comhttps://b.example.com":     errSeveral,
		"a.example.comhttp://b.example.com":              errSeveral,
		"www.one.comwww.two.com":                         errSeveral,
		"example.comexample.org":                         errSeveral,
		"https://Example.comexample.org/x":               errSeveral,
		"http://www.example.netexample.com":              errSeveral,
		"0.0.0.0 a.example.com b.example.com":            errSeveral,
		"127.0.0.1 localhost":                            errNoDot,
		"0.0.0.0 0.0.0.0":                                errNotURL,
	} {
		r, err := Normalizer{}.Request(client.Website, input, client.NAICS)
		if e, ok := errors.AsType[*InputError](err); !ok || e.Reason != want.Error() {
			t.Errorf("%q: got %q, %v; want %v", input, r.Input, err, want)
		}
	}
}

// Titles of web pages are asked without the tags and entities of HTML.
func TestTitlesOfPages(t *testing.T) {
	for input, want := range map[string]string{
		"Salt &amp; Pepper":           "Salt & Pepper",
		"Salt &amp;amp; Pepper":       "Salt & Pepper",
		"24&quot; pan&nbsp;&#8211; x": "24\" pan – x",
		"<b>Mug</b>, blue<br/>300 ml": "Mug, blue 300 ml",
		"&lt;b&gt;Mug&lt;/b&gt;":      "Mug",
		"R&D; kit":                    "R&D; kit",
		"AT&T phone":                  "AT&T phone",
		"Size < 5 > 3":                "Size < 5 > 3",
		"<3 Mug":                      "<3 Mug",
	} {
		r, err := Normalizer{}.Request(client.Product, input, client.ProductTaxonomy)
		if err != nil || r.Input != want {
			t.Errorf("%q: got %q, %v; want %q", input, r.Input, err, want)
		}
	}
}
