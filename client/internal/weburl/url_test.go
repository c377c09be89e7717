package weburl

import (
	"errors"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       URL
		request    string
	}{
		{"all parts", "HTTP://a:b@Example.com:8080/a/../b%?q=ü#f", URL{"http", "a:b@", "example.com", "8080", "/b%", "q=%C3%BC"}, "http://a:b@example.com:8080/b%25?q=%C3%BC"},
		{"a host alone", "https:example.com", URL{Scheme: "https", Host: "example.com"}, "https://example.com"},
		{"the root", "https://example.com/", URL{Scheme: "https", Host: "example.com", Path: "/"}, "https://example.com/"},
		{"escapes", "https://example.com/%2f%zz%4", URL{Scheme: "https", Host: "example.com", Path: "/%2f%zz%4"}, "https://example.com/%2f%25zz%254"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := Parse(tt.text)
			if err != nil || u != tt.want {
				t.Errorf("got %+v, %v; want %+v", u, err, tt.want)
			}
			request, err := ForRequest(tt.text)
			if err != nil || request.String() != tt.request {
				t.Errorf("the request has the URL %v, %v; want %s", request, err, tt.request)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]error{
		"":                            ErrScheme,
		"example.com":                 ErrScheme,
		"ftp://example.com":           ErrScheme,
		"https://":                    ErrHost,
		"https://a b":                 ErrHost,
		"https://example.com:x":       ErrPort,
		"https://example.com:0":       ErrPort,
		"https://1.2.3.4.5":           ErrNumber,
		"https://a\tb.com":            ErrLines,
		"http://a.com/\nhttp://b.com": ErrLines,
	} {
		if u, err := Parse(text); !errors.Is(err, want) {
			t.Errorf("%q: got %+v, %v; want %v", text, u, err, want)
		}
	}
}

// A normalized URL is its own normalized URL, and net/http has the same host.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"http:/0x7f.1/a/..", `https:\\u@Ü.de:080\%2e%?%#`, "https://[::FFFF:1.2.3.4]//", "https://ẞ.com/ (ü)", "http://a\n/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(u.String()); err != nil || again.String() != u.String() {
			t.Errorf("%q becomes %q, which becomes %q, %v", text, u, again, err)
		}
		u.User = "" // net/url has rules of its own for users
		request, err := ForRequest(u.String())
		if err != nil {
			t.Fatalf("%q cannot be requested: %v", text, err)
		}
		host := u.Host
		if u.Port != "" {
			host += ":" + u.Port
		}
		if request.Host != host || request.Scheme != u.Scheme {
			t.Errorf("%q is requested as %q", text, request)
		}
	})
}
