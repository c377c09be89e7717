package page

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/internal/weburl"
)

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
