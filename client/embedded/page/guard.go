package page

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/bulkcat/bulkcat/client/internal/weburl"
)

// blocked lists the addresses without public sites for which netip has no method, from the IANA special-purpose address
// registries.
var blocked = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier NAT; 100.100.100.200 serves metadata
	netip.MustParsePrefix("168.63.129.16/32"), // a cloud's host agent, reachable from its machines only
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments; 192.0.0.192 serves metadata
	netip.MustParsePrefix("192.0.2.0/24"),     // documentation
	netip.MustParsePrefix("192.88.99.0/24"),   // relays of 6to4, deprecated
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"),  // documentation
	netip.MustParsePrefix("203.0.113.0/24"),   // documentation
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, and the broadcast address
	netip.MustParsePrefix("64:ff9b:1::/48"),   // NAT64 of the local network
	netip.MustParsePrefix("100::/64"),         // discard
	netip.MustParsePrefix("::/96"),            // IPv4 within IPv6, deprecated
	netip.MustParsePrefix("2001::/23"),        // protocol assignments, Teredo among them
	netip.MustParsePrefix("2001:db8::/32"),    // documentation
	netip.MustParsePrefix("3fff::/20"),        // documentation
	netip.MustParsePrefix("5f00::/16"),        // segment routing
	netip.MustParsePrefix("fec0::/10"),        // site-local, deprecated
}

// Two IPv6 ranges carry an IPv4 address that a gateway will connect to.
var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

// isBlocked reports whether fetches must not connect to the address: loopback, private,
// link-local (where clouds serve credentials), multicast or reserved.
func isBlocked(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if addr.IsLoopback() || addr.IsPrivate() || addr.IsUnspecified() || addr.IsLinkLocalUnicast() || addr.IsMulticast() ||
		slices.ContainsFunc(blocked, func(prefix netip.Prefix) bool { return prefix.Contains(addr) }) {
		return true
	}
	inner, ok := embeddedIPv4(addr)
	return ok && isBlocked(inner)
}

func embeddedIPv4(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	switch {
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixTo4.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

// guard is a net.Dialer's Control. It checks the address of the connection itself: a name may resolve to another address at the
// second lookup.
func guard(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Error{Reason: Blocked, Err: err}
	}
	if isBlocked(target.Addr()) {
		return &Error{Reason: Blocked, Err: fmt.Errorf("%s is not a public address", target.Addr())}
	}
	return nil
}

// localNames are the suffixes of names that the public Internet does not have (RFC 6761, 6762 and 8375, and ICANN for
// internal). guard cannot check them if a proxy resolves the name.
var localNames = []string{".localhost", ".local", ".internal", ".home.arpa"}

// checkURL normalizes the host of a URL as package weburl does. It returns an error for a URL that is no web address, and for a
// blocked address in the URL, which guard does not see if a proxy connects.
func (f *Fetcher) checkURL(u *url.URL) error {
	fail := func(reason FailureKind, why string) error {
		return &Error{URL: redact(u), Reason: reason, Err: errors.New(why)}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fail(BadURL, "not an http or https URL with a host")
	}
	port := u.Port()
	host, err := weburl.Host(strings.TrimSuffix(u.Host, ":"+port))
	if err != nil {
		return fail(BadURL, err.Error())
	}
	if u.Host = host; port != "" {
		u.Host += ":" + port
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	isAddr := err == nil
	switch {
	case f.opts.AllowPrivate:
		return nil
	case isAddr && isBlocked(addr):
		return fail(Blocked, fmt.Sprintf("%s is not a public address", addr))
	case !isAddr && isLocal(host):
		return fail(Blocked, fmt.Sprintf("%q is a name of the local network", host))
	}
	return nil
}

// isLocal reports whether a lower-case name is of the local network. All names of the public
// Internet's sites have a dot.
func isLocal(name string) bool {
	return !strings.Contains(name, ".") || slices.ContainsFunc(localNames, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}
