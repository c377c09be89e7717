package page

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// over returns a Fetcher on the real transports, with names and proxy of the
// test's choosing.
func over(opts Options, proxy string, lookup lookupFunc) *Fetcher {
	opts.Mode = Always
	f := New(opts)
	f.transport = newRoutes(f.opts, func(*http.Request) (*url.URL, error) {
		if proxy == "" {
			return nil, nil
		}
		return url.Parse(proxy)
	}, lookup)
	return f
}

func resolveTo(addrs ...string) lookupFunc {
	return func(context.Context, string, string) ([]netip.Addr, error) {
		list := make([]netip.Addr, len(addrs))
		for i, addr := range addrs {
			list[i] = netip.MustParseAddr(addr)
		}
		return list, nil
	}
}

func titled(title string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaHTML)
		w.Write([]byte("<title>" + title + " " + r.Host + "</title>"))
	}))
}

func wantReason(t *testing.T, err error, want FailureKind) *Error {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) || failed.Reason != want {
		t.Fatalf("error %v, want reason %q", err, want)
	}
	return failed
}

func TestDialIsGuardedWhateverTheNameSays(t *testing.T) {
	server := titled("inside")
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]

	_, err := over(Options{}, "", resolveTo("127.0.0.1")).Fetch(t.Context(), "http://rebound.example"+port+"/?token=secret")
	failed := wantReason(t, err, Blocked)
	if failed.URL != "http://rebound.example"+port+"/robots.txt" {
		t.Errorf("failed URL %q", failed.URL)
	}
	page, err := over(Options{AllowPrivate: true}, "", resolveTo("127.0.0.1")).Fetch(t.Context(), "http://inside.example"+port+"/")
	if err != nil || !strings.HasPrefix(page.Title, "inside") {
		t.Errorf("title %q, error %v", page.Title, err)
	}
}

func TestDialTriesTheNextAddress(t *testing.T) {
	server := titled("second")
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	// Nothing listens on the second address of the loopback network.
	f := over(Options{AllowPrivate: true}, "", resolveTo("127.0.0.2", "127.0.0.1"))
	if page, err := f.Fetch(t.Context(), "http://two.example"+port); err != nil || !strings.HasPrefix(page.Title, "second") {
		t.Errorf("title %q, error %v", page.Title, err)
	}
	// After maxAddresses it gives up.
	f = over(Options{AllowPrivate: true}, "", resolveTo("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.1"))
	_, err := f.Fetch(t.Context(), "http://many.example"+port)
	wantReason(t, err, Refused)
}

func TestProxyOnTheLocalNetwork(t *testing.T) {
	proxy := titled("proxied")
	defer proxy.Close()
	never := func(context.Context, string, string) ([]netip.Addr, error) {
		t.Error("a name was looked up that the proxy resolves")
		return nil, errors.New("no")
	}
	f := over(Options{}, proxy.URL, never)

	page, err := f.Fetch(t.Context(), "http://example.com/")
	if err != nil || page.Title != "proxied example.com" {
		t.Errorf("title %q, error %v", page.Title, err)
	}
	_, err = f.Fetch(t.Context(), "http://192.168.0.1/") // the proxy would connect
	wantReason(t, err, Blocked)
}

func TestProxyFailures(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer refusing.Close()
	_, err := over(Options{}, refusing.URL, nil).Fetch(t.Context(), "https://example.com/")
	if sign := verdictOf(wantReason(t, err, Proxy)); sign != alive {
		t.Errorf("a proxy that refuses is sign %d, want %d", sign, alive)
	}

	absent := httptest.NewServer(nil)
	absent.Close()
	for _, site := range []string{"http://example.com/", "https://example.com/"} {
		_, err = over(Options{}, absent.URL, nil).Fetch(t.Context(), site)
		if sign := verdictOf(wantReason(t, err, Proxy)); sign != proxyless {
			t.Errorf("%s: an absent proxy is sign %d, want %d", site, sign, proxyless)
		}
	}
}

func TestLookups(t *testing.T) {
	notFound := &net.DNSError{Err: "no such host", Name: "x.example", IsNotFound: true}
	tests := []struct {
		name   string
		lookup lookupFunc
		took   time.Duration
	}{
		{"no such host", func(context.Context, string, string) ([]netip.Addr, error) { return nil, notFound }, 0},
		{"no address", resolveTo(), 0},
		{"some other failure", func(context.Context, string, string) ([]netip.Addr, error) { return nil, errors.New("odd") }, 0},
		{"a resolver that hangs", func(ctx context.Context, _, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, resolveTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := over(Options{}, "", tt.lookup).Fetch(t.Context(), "https://x.example/")
				wantReason(t, err, DNS)
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

func TestBlockedAddresses(t *testing.T) {
	tests := []struct {
		addr    string
		blocked bool
	}{
		{"127.0.0.1", true}, {"127.8.9.1", true}, {"::1", true},
		{"10.1.2.3", true}, {"172.16.0.1", true}, {"192.168.1.1", true}, {"fd00:ec2::254", true},
		{"169.254.169.254", true}, {"fe80::1%eth0", true}, {"fec0::1", true},
		{"100.100.100.200", true}, {"168.63.129.16", true}, {"192.0.0.192", true},
		{"0.0.0.0", true}, {"0.1.2.3", true}, {"::", true},
		{"224.0.0.1", true}, {"239.255.255.250", true}, {"ff02::1", true},
		{"255.255.255.255", true}, {"240.0.0.1", true}, {"198.18.0.1", true},
		{"192.0.2.1", true}, {"2001:db8::1", true},
		{"::ffff:10.0.0.1", true}, {"64:ff9b::a9fe:a9fe", true}, {"2002:7f00:1::", true},
		{"93.184.216.34", false}, {"8.8.8.8", false}, {"172.32.0.1", false}, {"100.128.0.1", false},
		{"2606:4700::1111", false}, {"64:ff9b::808:808", false}, {"2002:808:808::", false}, {"::ffff:8.8.8.8", false},
	}
	for _, tt := range tests {
		if got := isBlocked(netip.MustParseAddr(tt.addr)); got != tt.blocked {
			t.Errorf("isBlocked(%s) = %v, want %v", tt.addr, got, tt.blocked)
		}
	}
	if guard("tcp", "no address", nil) == nil || guard("tcp4", "8.8.8.8:443", nil) != nil {
		t.Error("guard must refuse what it cannot read, and let a public address through")
	}
}

func FuzzBlocked(f *testing.F) {
	for _, addr := range []string{"127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:a00:1::", "fe80::1%eth0", "8.8.8.8"} {
		f.Add(addr)
	}
	f.Fuzz(func(t *testing.T, text string) {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			t.Skip()
		}
		plain := addr.Unmap().WithZone("")
		if !isBlocked(addr) && (plain.IsPrivate() || plain.IsLoopback() || plain.IsMulticast() || plain.IsLinkLocalUnicast()) {
			t.Errorf("%s is let through", addr)
		}
		if plain.Is4() && isBlocked(netip.AddrFrom16(plain.As16())) != isBlocked(plain) {
			t.Errorf("%s is judged otherwise when mapped to IPv6", addr)
		}
	})
}
