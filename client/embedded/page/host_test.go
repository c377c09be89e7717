package page

import (
	"net/http"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
)

// The fetcher asks the host and the path of the normalized request, whether the URL is given or is the
// target of a redirect.
func TestFetchAgreesWithTheNormalizer(t *testing.T) {
	for _, tt := range []struct{ input, host, path string }{
		{"https://ẞ.com/a", "xn--zca.com", "/a"},
		{"https://my_site.Example.com./a/../b", "my_site.example.com", "/b"},
		{"http://0x08080808/a", "8.8.8.8", "/a"},
		{"http://8.8.2056/a", "8.8.8.8", "/a"},
		{"http:/example.com:080/100%-cotton", "example.com", "/100%25-cotton"},
		{"https://example.com:0444/a%2Fb?q=ü", "example.com:444", "/a%2Fb?q=%C3%BC"},
		{`http:\\example.com\a#%GH`, "example.com", "/a"},
		{"http://[2606:4700:0::1]/a", "[2606:4700::1]", "/a"},
	} {
		request, err := normalize.Normalizer{}.Request(client.Website, tt.input, client.NAICS)
		if err != nil {
			t.Fatal(err)
		}
		for _, input := range []string{tt.input, request.Input} {
			var host, path string
			f := New(Options{Mode: Always, Transport: transport(func(req *http.Request) (*http.Response, error) {
				if req.URL.Path == robotsPath {
					return respond(req, 404, ""), nil
				}
				host, path = req.Host, req.URL.RequestURI()
				return respond(req, 200, "<title>x</title>", "Content-Type", mediaHTML), nil
			})})
			if _, err := f.Fetch(t.Context(), input); err != nil || host != tt.host || path != tt.path {
				t.Errorf("%q: asked %s for %s, %v; want %s, %s", input, host, path, err, tt.host, tt.path)
			}
		}
	}
}

func TestRedirectsAreNormalized(t *testing.T) {
	for location, want := range map[string]string{
		"https://ẞ.com/":            "xn--zca.com",
		"http://0x08080808:8080/":   "8.8.8.8:8080",
		"//My_Site.example.com./":   "my_site.example.com",
		"http://[2606:4700:0::1]:/": "[2606:4700::1]",
	} {
		host := ""
		f := New(Options{Mode: Always, Transport: transport(func(req *http.Request) (*http.Response, error) {
			switch {
			case req.URL.Path == robotsPath:
				return respond(req, 404, ""), nil
			case req.Host == "from.example":
				return respond(req, 302, "", "Location", location), nil
			}
			host = req.Host
			return respond(req, 200, "<title>x</title>", "Content-Type", mediaHTML), nil
		})})
		if _, err := f.Fetch(t.Context(), "https://from.example/"); host != want {
			t.Errorf("%s: asked %q, %v; want %q", location, host, err, want)
		}
	}
}
