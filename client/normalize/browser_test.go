package normalize

import (
	"errors"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

// Websites that browsers understand, although they are no URLs by RFC 3986, are asked as browsers ask.
func TestNormalizeAsBrowsers(t *testing.T) {
	const shop = "https://shop.example.com"
	for _, tt := range []struct{ name, input, want string }{
		{"a percent sign that begins no escape", shop + "/100%-cotton", shop + "/100%-cotton"},
		{"a percent sign at the end", shop + "/100%", shop + "/100%"},
		{"a percent sign beside a space", shop + "/100% wool", shop + "/100%%20wool"},
		{"a percent sign in the query", shop + "/?q=5%-off", shop + "/?q=5%-off"},
		{"a fragment with a percent sign", shop + "/a#%GH", shop + "/a"},
		{"a fragment with control characters", shop + "/a#\x00", shop + "/a"},
		{"one slash", "http:/example.com/", "http://example.com"},
		{"no slash", "http:example.com", "http://example.com"},
		{"three slashes", "https:///example.com", "https://example.com"},
		{"backslashes", `HTTPS:\\example.com\a\b?c\d`, `https://example.com/a/b?c\d`},
		{"a bare domain with backslashes", `example.com\a`, "https://example.com/a"},
		{"a tab in the path", "https://example.com/a\tb", "https://example.com/ab"},
		{"a line break in the query", "https://example.com/?a\r\nb", "https://example.com/?ab"},
		{"control characters around", "\x00https://example.com/\x1f", "https://example.com"},
		{"a control character in the path", "https://example.com/\x01a", "https://example.com/%01a"},
		{"spaces and brackets in the path", "https://example.com/a (b)", "https://example.com/a%20%28b%29"},
		{"brackets alone", "https://example.com/a(b)", "https://example.com/a(b)"},
		{"an escape stays beside a space", "https://example.com/a%2Fb c", "https://example.com/a%2Fb%20c"},
		{"other scripts in path and query", "https://example.com/日?q=本", "https://example.com/%E6%97%A5?q=%E6%9C%AC"},
		{"quotes in the query", `https://example.com/?q="it's"`, "https://example.com/?q=%22it's%22"},
		{"characters that stay in the query", "https://example.com/?q={a|b}^`[c]", "https://example.com/?q={a|b}^`[c]"},
		{"an escaped host", "https://ex%61mple.com", "https://example.com"},
		{"an escaped host of another script", "https://m%C3%BCnchen.de", "https://xn--mnchen-3ya.de"},
		{"an empty port", "https://example.com:/a", "https://example.com/a"},
		{"a port with zeros", "https://example.com:00443", "https://example.com"},
		{"a capital sharp s is a sharp s", "STRAẞE.de", "https://xn--strae-oqa.de"},
		{"a capital sharp s alone", "ẞ.com", "https://xn--zca.com"},
		{"a host of full width", "https://ｅｘａｍｐｌｅ．ｃｏｍ", "https://example.com"},
		{"an invisible hyphen", "exam\u00adple.com", "https://example.com"},
		{"dot segments", "https://example.com/a/../b/./c", "https://example.com/b/c"},
		{"escaped dot segments", "https://example.com/a/%2E%2e/b/.%2e/%2e/c", "https://example.com/c"},
		{"dot segments above the root", "https://example.com/../../a", "https://example.com/a"},
		{"a dot segment at the end", "https://example.com/a/b/..", "https://example.com/a/"},
		{"dot segments alone", "https://example.com/a/..", "https://example.com"},
		{"dots that are no segments", "https://example.com/.a/b../...", "https://example.com/.a/b../..."},
		{"dots in the query", "https://example.com/?a/../b", "https://example.com/?a/../b"},
		{"an address with a short end", "http://0x7f.1", "http://127.0.0.1"},
		{"an address of one number", "http://2130706433/a", "http://127.0.0.1/a"},
		{"an address in octal", "http://0177.0.0.01", "http://127.0.0.1"},
		{"an address in hexadecimal of both cases", "http://0X7F000001", "http://127.0.0.1"},
		{"an address of full width", "http://１２７.０.０.１", "http://127.0.0.1"},
		{"an address with a dot at the end", "http://127.0.0.1./", "http://127.0.0.1"},
		{"a bare address", "192.0.2.1/a", "https://192.0.2.1/a"},
		{"digits that are no number", "http://1.2.3.4x", "http://1.2.3.4x"},
		{"a number before the last label", "https://1.2.3.com", "https://1.2.3.com"},
		{"IPv6 in long form", "http://[2001:0DB8:0:0::1]", "http://[2001:db8::1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Normalizer{}.Request(client.Website, tt.input, client.NAICS)
			if err != nil || r.Input != tt.want {
				t.Fatalf("got %q, %v; want %q", r.Input, err, tt.want)
			}
			if again, err := (Normalizer{}).Request(client.Website, r.Input, client.NAICS); err != nil || again != r {
				t.Errorf("normalizing twice: got %q, %v", again.Input, err)
			}
		})
	}
}

// Hosts that are no names and no addresses, and inputs that are rather something else, are not asked.
func TestNormalizeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		want        error
	}{
		{"five numbers", "1.2.3.4.5", errNumber},
		{"numbers above 255", "999.999.999.999", errNumber},
		{"a number above 32 bits", "http://0x100000000", errNumber},
		{"a number above 64 bits", "http://99999999999999999999", errNumber},
		{"a decimal number", "3.14", errNumber},
		{"a date", "31.12.2024", errNumber},
		{"a bare number in hexadecimal", "0x7f.1", errNumber},
		{"a bare address with zeros in front", "192.0.02.1", errNumber},
		{"a name that ends in a number", "https://example.1/a", errNumber},
		{"a name that ends in hexadecimal", "https://example.0xf", errNumber},
		{"an address behind www", "http://www.192.0.2.1/", errNumber},
		{"a digit that octal has not", "http://1.2.3.08", errNumber},
		{"one slash and no host", "http:/", errNotURL},
		{"a scheme alone", "https:", errNotURL},
		{"a percent sign in the host", "https://100%.com", errNotURL},
		{"an escaped slash in the host", "https://example.com%2Fa", errNotURL},
		{"an escaped space in the host", "https://exa%20mple.com", errNotURL},
		{"a space in the host", "https://exa mple.com", errNotURL},
		{"an empty label", "https://.example.com", errNotURL},
		{"two dots at the end", "https://example.com..", errNotURL},
		{"a line break in the host", "https://a.example\n.com", errNotURL},
		{"two URLs", "https://example.com/a\nhttps://example.org/b", errSeveral},
		{"two bare domains", "example.com\nexample.org", errSeveral},
		{"a password", "https://user:secret@example.com/", errCredentials},
		{"a password before a malformed host", "https://user:secret@exa mple.com/", errCredentials},
		{"a user after backslashes", `https:\\user@example.com`, errCredentials},
		{"an empty user", "http://@example.com", errCredentials},
		{"IPv6 without its end", "http://[::1", errNotURL},
		{"IPv6 with text behind", "http://[::1]a", errNotURL},
		{"IPv4 in brackets", "http://[127.0.0.1]", errNotURL},
		{"a zone", "http://[fe80::1%25eth0]", errNotURL},
		{"a zone that is not escaped", "http://[fe80::1%eth0]", errNotURL},
		{"a port above 65535", "https://example.com:65536", errNotURL},
		{"a port with a sign", "https://example.com:+80", errNotURL},
		{"two ports", "https://example.com:80:80", errNotURL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Normalizer{}.Request(client.Website, tt.input, client.NAICS)
			var input *InputError
			if !errors.As(err, &input) || input.Reason != tt.want.Error() {
				t.Errorf("got %q, %v; want %v", r.Input, err, tt.want)
			}
		})
	}
}

// A product that begins like a URL is one, also with too few slashes. A colon alone makes no URL.
func TestProductURLs(t *testing.T) {
	for input, want := range map[string]string{
		"http:/shop.example.com/a":         "http://shop.example.com/a",
		`https:\\shop.example.com\a`:       "https://shop.example.com/a",
		"HTTP: The Definitive Guide":       "HTTP: The Definitive Guide",
		"HTTPS:example.com":                "HTTPS:example.com",
		"https://shop.example.com/50%-off": "https://shop.example.com/50%-off",
		"1.2.3.4.5":                        "1.2.3.4.5",
	} {
		if r, err := (Normalizer{}).Request(client.Product, input, client.ProductTaxonomy); err != nil || r.Input != want {
			t.Errorf("%q: got %q, %v; want %q", input, r.Input, err, want)
		}
	}
}
