package normalize

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bulkcat/bulkcat/client"
)

func TestNormalizeWebsite(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"bare domain", "example.com", "https://example.com"},
		{"spaces around", "  example.com\t", "https://example.com"},
		{"scheme and host in upper case", "HTTP://EXAMPLE.com/Path", "http://example.com/Path"},
		{"default port of https", "https://example.com:443/a", "https://example.com/a"},
		{"default port of http", "http://example.com:80", "http://example.com"},
		{"other port", "example.com:8080", "https://example.com:8080"},
		{"the other scheme's port stays", "http://example.com:443", "http://example.com:443"},
		{"fragment", "https://example.com/a#top", "https://example.com/a"},
		{"root path", "https://example.com/", "https://example.com"},
		{"root path with a query", "https://example.com/?q=1", "https://example.com/?q=1"},
		{"query alone", "example.com?q=a b", "https://example.com/?q=a%20b"},
		{"hyphens", "v2--my-site.example.com", "https://v2--my-site.example.com"},
		{"more hyphens", "http://r3---sn-x.example.com", "http://r3---sn-x.example.com"},
		{"a hyphen first", "-foo.example.com", "https://-foo.example.com"},
		{"trailing dot", "example.com.", "https://example.com"},
		{"international domain", "münchen.de", "https://xn--mnchen-3ya.de"},
		{"international domain in upper case", "MÜNCHEN.de", "https://xn--mnchen-3ya.de"},
		{"sharp s is kept apart from ss", "straße.de", "https://xn--strae-oqa.de"},
		{"ideographic dot", "例え。jp", "https://xn--r8jz45g.jp"},
		{"punycode stays", "xn--mnchen-3ya.de", "https://xn--mnchen-3ya.de"},
		{"underscore", "my_site.example.com", "https://my_site.example.com"},
		{"scheme relative", "//example.com/a", "https://example.com/a"},
		{"IPv4", "http://192.0.2.1/a", "http://192.0.2.1/a"},
		{"IPv6", "http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080"},
		{"one label with a scheme", "http://intranet/wiki", "http://intranet/wiki"},
		{"space in the path", "https://example.com/a b", "https://example.com/a%20b"},
		{"escapes stay", "https://example.com/a%2Fb", "https://example.com/a%2Fb"},
		{"path in other script", "https://example.com/ü", "https://example.com/%C3%BC"},
		{"a URL within the query", "example.com/?to=http://other.com", "https://example.com/?to=http://other.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Normalizer{}.Request(client.Website, tt.input, client.TaxonomyV3)
			if err != nil || r.Input != tt.want {
				t.Errorf("got %q, %v; want %q", r.Input, err, tt.want)
			}
			again, err := Normalizer{}.Request(client.Website, r.Input, client.TaxonomyV3)
			if err != nil || again != r {
				t.Errorf("normalizing twice: got %q, %v; want %q", again.Input, err, r.Input)
			}
		})
	}
}

func TestNormalizeWebsiteInvalid(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		want        error
	}{
		{"empty", "", errEmpty},
		{"blank", " \t ", errEmpty},
		{"words", "not a url", errNoDot},
		{"words with a dot", "not a url.", errNotURL},
		{"no dot", "localhost", errNoDot},
		{"other scheme", "ftp://example.com", errScheme},
		{"no host", "http://", errNotURL},
		{"no host but slashes", "https:///", errNotURL},
		{"no host but a query", "https://?a.b", errNotURL},
		{"credentials", "https://user:secret@example.com", errCredentials},
		{"credentials without a scheme", "user:secret@example.com", errCredentials},
		{"token", "https://token@example.com", errCredentials},
		{"mail address", "someone@example.com", errMail},
		{"mailto", "mailto:someone@example.com", errScheme},
		{"mailto in capitals", " MAILTO:someone@example.com?subject=a.b", errScheme},
		{"telephone", "tel:+49.30.1234", errScheme},
		{"script", "javascript:location.reload()", errScheme},
		{"empty label", "https://example..com", errNotURL},
		{"two schemes", "https://https://example.com", errNotURL},
		{"no punycode", "https://xn--a-\u00fc.example.com", errNotURL},
		{"long label", strings.Repeat("a", 64) + ".com", errNotURL},
		{"long host", strings.Repeat("a.", 130) + "com", errNotURL},
		{"port out of range", "example.com:70000", errNotURL},
		{"port 0", "example.com:0", errNotURL},
		{"port that is a word", "example.com:http", errNotURL},
		{"bad escape in host", "https://exa%zzmple.com", errNotURL},
		{"escapes that are not UTF-8", "https://%dd.com", errNotURL},
		{"control character", "https://exa\x00mple.com", errNotURL},
		{"invalid UTF-8", "ex\xffample.com", errUTF8},
		{"IPv6 zone", "http://[fe80::1%25eth0]/", errNotURL},
		{"half an IPv6 address", "http://[::1", errNotURL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Normalizer{}.Request(client.Website, tt.input, client.TaxonomyV3)
			var input *InputError
			if !errors.As(err, &input) || input.Reason != tt.want.Error() {
				t.Errorf("got %q, %v; want %v", r.Input, err, tt.want)
			}
		})
	}
}

func TestNormalizeScheme(t *testing.T) {
	r, err := Normalizer{Scheme: "http"}.Request(client.Website, "example.com", client.TaxonomyV3)
	if err != nil || r.Input != "http://example.com" {
		t.Errorf("got %q, %v", r.Input, err)
	}
}

func TestNormalizeProduct(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"as it is", "Red Shoe, size 9", "Red Shoe, size 9"},
		{"one word", "Shoe", "Shoe"},
		{"spaces", "  Red \t Shoe\n", "Red Shoe"},
		{"one tab", "Red\tShoe", "Red Shoe"},
		{"no-break space", "Red\u00a0Shoe", "Red Shoe"},
		{"em space", "Red\u2003Shoe", "Red Shoe"},
		{"decomposed", "Cafe\u0301 table", "Café table"},
		{"URL", "HTTPS://Shop.example.com:443/p/1#reviews", "https://shop.example.com/p/1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Normalizer{}.Request(client.Product, tt.input, client.ProductTaxonomy)
			if err != nil || r.Input != tt.want {
				t.Errorf("got %q, %v; want %q", r.Input, err, tt.want)
			}
		})
	}
	for _, input := range []string{"", "  \u00a0", "ab\xff", "https://"} {
		if r, err := (Normalizer{}).Request(client.Product, input, client.ProductTaxonomy); err == nil {
			t.Errorf("%q: got %q, want an error", input, r.Input)
		}
	}
}

func FuzzNormalizeWebsite(f *testing.F) {
	for _, s := range []string{"example.com", "https://Example.com:443/a?b#c", "münchen.de", "//x.y", "[::1]", "http://[::1]:80", "a.b:c", "%zz.com", "a。b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, input string) {
		r, err := Normalizer{}.Request(client.Website, input, client.TaxonomyV3)
		if long, longErr := (Normalizer{}).anyWebsite(input); !errors.Is(err, errPlaceholder) && (long != r.Input || (longErr == nil) != (err == nil)) {
			t.Fatalf("%q became %q, %v; the long way makes it %q, %v", input, r.Input, err, long, longErr)
		}
		if err != nil {
			return
		}
		u, err := url.Parse(r.Input)
		if err != nil || u.Host == "" || u.Fragment != "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
			t.Fatalf("%q became %q, which is no website URL: %v", input, r.Input, err)
		}
		if !utf8.ValidString(r.Input) || strings.ContainsAny(r.Input, " \n\t") {
			t.Fatalf("%q became %q", input, r.Input)
		}
		again, err := Normalizer{}.Request(client.Website, r.Input, client.TaxonomyV3)
		if err != nil || again != r {
			t.Fatalf("%q became %q and then %q, %v", input, r.Input, again.Input, err)
		}
	})
}

func FuzzNormalizeProduct(f *testing.F) {
	for _, s := range []string{"Red Shoe", " a  b ", "Cafe\u0301", "https://a.b/c", "\u00a0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, input string) {
		r, err := Normalizer{}.Request(client.Product, input, client.ProductTaxonomy)
		if err != nil {
			return
		}
		if again, err := (Normalizer{}).Request(client.Product, r.Input, client.ProductTaxonomy); err != nil || again != r {
			t.Fatalf("%q became %q and then %q, %v", input, r.Input, again.Input, err)
		}
	})
}

// The shortcut for plain domains returns the same as the full normalization.
func TestPlainDomains(t *testing.T) {
	for _, tt := range []struct {
		input string
		plain bool
	}{
		{"example.com", true}, {"www.best-car-parts.co.uk", true}, {"4chan.org", true}, {"1.2.3.example", true}, {"a.b", true},
		{strings.Repeat("a", 63) + ".com", true},
		{"Example.com", false}, {"localhost", false}, {"1.2.3.4", false}, {"1.2.3.0x7f", false}, {"a.1b", false}, {"xn--mnchen-3ya.de", false},
		{"ab--c.de", false}, {"-a.com", false}, {"a-.com", false}, {"a..com", false}, {".com", false}, {"com.", false}, {"example.com.", false},
		{"a_b.com", false}, {"example.com/", false}, {"münchen.de", false}, {"", false}, {".", false}, {strings.Repeat("a", 64) + ".com", false},
		{strings.Repeat("abc.", 63) + "com", false},
	} {
		if got := isPlainDomain(tt.input); got != tt.plain {
			t.Errorf("%q: plain %v, want %v", tt.input, got, tt.plain)
		}
		for _, input := range []string{
			tt.input, "https://" + tt.input, "http://" + tt.input + "/", "https://" + tt.input + "//", "HTTP://" + tt.input,
			"https://" + tt.input + ":443", "http:/" + tt.input, "//" + tt.input,
		} {
			quick, quickErr := Normalizer{}.website(input)
			long, longErr := Normalizer{}.anyWebsite(input)
			if quick != long || (quickErr == nil) != (longErr == nil) {
				t.Errorf("%q: %q, %v; the long way makes it %q, %v", input, quick, quickErr, long, longErr)
			}
		}
	}
	for input, plain := range map[string]bool{
		"https://example.com": true, "http://example.com/": true, "https://example.com/a": false, "https://Example.com": false,
		"ftp://example.com": false, "https://": false, "https:///": false, "example.com": false,
	} {
		if got := isPlainURL(input); got != plain {
			t.Errorf("%q: plain %v, want %v", input, got, plain)
		}
	}
}

// The shortcut for plain titles returns the same as the full normalization.
func TestTidyTitlesNeedNoFolding(t *testing.T) {
	for _, title := range []string{"a", "Garden hose", "a  b", " a", "a ", "a\tb", "a\x00b", "é", "e\u0301", "", " ", "a\u00a0b", "x\x7fy"} {
		if isTidy(title) && foldSpace(norm.NFC.String(title)) != title {
			t.Errorf("%q counts as tidy and is not", title)
		}
	}
	if !isTidy("Garden hose, 20 m (green)") {
		t.Error("a plain title goes the long way")
	}
}

// A product that is a malformed URL is not called a website.
func TestMalformedURLOfAProduct(t *testing.T) {
	for _, input := range []string{"http://", "https://[::1", "https://a..b/c"} {
		_, err := Normalizer{}.Request(client.Product, input, client.ProductTaxonomy)
		if e, ok := errors.AsType[*InputError](err); !ok || e.Reason != errProductURL.Error() {
			t.Errorf("%q: got %v", input, err)
		}
	}
}
