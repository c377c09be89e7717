package page

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// TestNoWayIn tries to reach a server on the loopback interface by every known detour.
func TestNoWayIn(t *testing.T) {
	var reached atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.Header().Set("Content-Type", mediaHTML)
		w.Write([]byte("<title>inside</title>"))
	}))
	defer inside.Close()
	port := inside.URL[strings.LastIndex(inside.URL, ":"):]

	tests := []struct {
		name, url string
		resolves  []string
		want      FailureKind
	}{
		{"an address", "http://127.0.0.1" + port, nil, Blocked},
		{"an address of the link", "http://169.254.169.254/latest/meta-data/", nil, Blocked},
		{"metadata over IPv6", "http://[fd00:ec2::254]/latest/", nil, Blocked},
		{"IPv6", "http://[::1]" + port, nil, Blocked},
		{"IPv4 mapped into IPv6", "http://[::ffff:127.0.0.1]" + port, nil, Blocked},
		{"IPv4 mapped into IPv6, in hexadecimal", "http://[::ffff:7f00:1]" + port, nil, Blocked},
		{"IPv4 within IPv6", "http://[::127.0.0.1]" + port, nil, Blocked},
		{"NAT64", "http://[64:ff9b::127.0.0.1]" + port, nil, Blocked},
		{"6to4", "http://[2002:7f00:1::]" + port, nil, Blocked},
		{"a zone", "http://[fe80::1%25lo]" + port, nil, BadURL},
		{"a zone on a loopback address", "http://[::1%25lo]" + port, nil, BadURL},
		{"one number", "http://2130706433" + port, nil, Blocked},
		{"a hexadecimal number", "http://0x7f000001" + port, nil, Blocked},
		{"an octal number", "http://017700000001" + port, nil, Blocked},
		{"an octal part", "http://0177.0.0.1" + port, nil, Blocked},
		{"a short address", "http://127.1" + port, nil, Blocked},
		{"mixed parts", "http://0x7F.0.01" + port, nil, Blocked},
		{"a part left empty", "http://0x.0.0.0" + port, nil, Blocked},
		{"a dot at the end", "http://127.0.0.1." + port, nil, Blocked},
		{"zero", "http://0" + port, nil, Blocked},
		{"a number too large", "http://4294967296" + port, nil, BadURL},
		{"a part too large", "http://1.2.3.256/", nil, BadURL},
		{"too many parts", "http://127.0.0.0.1/", nil, BadURL},
		{"a name that ends in a number", "http://example.1/", nil, BadURL},
		{"digits of full width", "http://１２７.０.０.１" + port, nil, Blocked},
		{"circled digits", "http://①②⑦.⓪.⓪.①" + port, nil, Blocked},
		{"a user before the host", "http://example.com@127.0.0.1" + port, nil, Blocked},
		{"a user that looks like a host", "http://example.com%2f@127.0.0.1" + port, nil, Blocked},
		{"a fragment before the host", "http://127.0.0.1" + port + "#@example.com/", nil, Blocked},
		{"localhost", "http://localhost" + port, []string{"127.0.0.1"}, Blocked},
		{"localhost with dots", "http://a.LOCALHOST." + port, []string{"127.0.0.1"}, Blocked},
		{"a name without a dot", "http://intranet" + port, []string{"127.0.0.1"}, Blocked},
		{"a name of a cloud", "http://metadata.google.internal" + port, []string{"127.0.0.1"}, Blocked},
		{"a name that resolves inward", "http://inward.example" + port, []string{"127.0.0.1"}, Blocked},
		{"a name that resolves to IPv6", "http://inward.example" + port, []string{"::1"}, Blocked},
		{"a name that resolves to a mapped address", "http://inward.example" + port, []string{"::ffff:127.0.0.1"}, Blocked},
		{"another scheme", "gopher://127.0.0.1" + port, nil, BadURL},
		{"a file", "file:///etc/passwd", nil, BadURL},
	}
	for _, tt := range tests {
		for _, proxy := range []string{"", inside.URL} {
			if proxy != "" && tt.resolves != nil && strings.HasSuffix(tt.url, ".example"+port) {
				continue // the proxy resolves, and answers for it
			}
			t.Run(tt.name+" by "+proxy, func(t *testing.T) {
				_, err := over(Options{}, proxy, resolveTo(tt.resolves...)).Fetch(t.Context(), tt.url)
				wantReason(t, err, tt.want)
			})
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the server inside was reached %d times", n)
	}
}

// TestNoWayInByRedirect redirects from a public site to the local network.
func TestNoWayInByRedirect(t *testing.T) {
	for _, to := range []string{
		"http://127.0.0.1/", "//169.254.169.254/latest/", "http://[::ffff:a9fe:a9fe]/", "http://0x7f.1/", "http://localhost:8080/",
		"http://user@10.0.0.1/", "https://router.local/",
	} {
		for _, robots := range []bool{true, false} {
			f := New(Options{Transport: transport(func(req *http.Request) (*http.Response, error) {
				switch {
				case req.URL.Host != "open.example":
					t.Errorf("%s was asked for", req.URL)
				case req.URL.Path == robotsPath && !robots:
					return respond(req, 404, ""), nil
				}
				return respond(req, 302, "", "Location", to), nil
			})})
			_, err := f.Fetch(t.Context(), "https://open.example/")
			wantReason(t, err, Blocked)
		}
	}
}

// In TestRebinding a name resolves to a public address for robots.txt, and to a local address for
// the page.
func TestRebinding(t *testing.T) {
	inside := titled("inside")
	defer inside.Close()
	site := "http://rebound.example" + inside.URL[strings.LastIndex(inside.URL, ":"):]
	f := over(Options{}, "", resolveTo("127.0.0.1"))
	f.ruleCache.keep(originRules{origin: site}, rulesLast)
	_, err := f.Fetch(t.Context(), site)
	if failed := wantReason(t, err, Blocked); strings.HasSuffix(failed.URL, robotsPath) {
		t.Errorf("failed at %s, not at the page", failed.URL)
	}
}

func TestAllowPrivate(t *testing.T) {
	inside := titled("inside")
	defer inside.Close()
	port := inside.URL[strings.LastIndex(inside.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "intranet"} {
		page, err := over(Options{AllowPrivate: true}, "", resolveTo("127.0.0.1")).Fetch(t.Context(), "http://"+host+port)
		if err != nil || !strings.HasPrefix(page.Title, "inside") {
			t.Errorf("%s: title %q, error %v", host, page.Title, err)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, url := range []string{"http://127.1/", "http://0x7f.0.0.1:80", "http://１２７.1/", "http://[::1%25lo]/", "http://a@b@10.0.0.1", "https://xn--a.example./"} {
		f.Add(url)
	}
	checker := New(Options{Transport: transport(nil)})
	f.Fuzz(func(t *testing.T, rawURL string) {
		u, err := url.Parse(rawURL)
		if err != nil || checker.checkURL(u) != nil {
			t.Skip()
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && isBlocked(addr) {
			t.Errorf("%q is let through", rawURL)
		}
		if name := strings.ToLower(u.Hostname()); name == "localhost" || strings.HasSuffix(name, ".localhost") {
			t.Errorf("%q is let through", rawURL)
		}
	})
}
