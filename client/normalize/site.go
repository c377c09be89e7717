package normalize

import (
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/bulkcat/bulkcat/client"
)

// Site returns one request for all spellings of the website of r: without "www.", query and trailing slashes, and with the
// Normalizer's scheme. It keeps the path. A host with a port, an address and a name without a dot keep their scheme, because
// the other scheme rarely leads to the same website. Site returns a request for a product unchanged.
//
// r must be a result of Request of the same Normalizer. Site of the result is the same request.
func (n Normalizer) Site(r client.Request) client.Request {
	if r.Kind == client.Website {
		r.Input = n.site(r.Input)
	}
	return r
}

func (n Normalizer) site(website string) string {
	was, rest, _ := strings.Cut(website, "://")
	rest, _, _ = strings.Cut(rest, "?")
	rest = strings.TrimRight(rest, "/")
	authority, _, _ := strings.Cut(rest, "/")
	host, _, hasPort := strings.Cut(authority, ":") // for an IPv6 address, host is a part of it, which is no domain
	name := withoutWWW(host)
	rest = rest[len(host)-len(name):]
	scheme := was
	if isDomain(name) && !hasPort {
		scheme = n.scheme()
	}
	if scheme == was && len(was)+len("://")+len(rest) == len(website) {
		return website // saves an allocation for most websites
	}
	return scheme + "://" + rest
}

// Host returns one request for all pages of the host and port of the website r: the Site of its root. It returns a request for
// a product unchanged. r must be a result of Request or Site of the same Normalizer.
func (n Normalizer) Host(r client.Request) client.Request {
	if r.Kind == client.Website {
		r.Input = n.site(r.Input)
		scheme, rest, _ := strings.Cut(r.Input, "://")
		authority, _, _ := strings.Cut(rest, "/")
		r.Input = r.Input[:len(scheme)+len("://")+len(authority)]
	}
	return r
}

// Domain returns the request for the registrable domain of the website r, such as example.co.uk, by the public suffix list.
// Private suffixes count: someone.github.io is a domain. For a name that cannot be registered, an address and a name without a
// dot, Domain is Host. r must be a result of Request, Site or Host of the same Normalizer.
func (n Normalizer) Domain(r client.Request) client.Request {
	r = n.Host(r)
	if r.Kind != client.Website {
		return r
	}
	_, authority, _ := strings.Cut(r.Input, "://")
	host, _, _ := strings.Cut(authority, ":")
	if !isDomain(host) {
		return r
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		r.Input = n.scheme() + "://" + domain
	}
	return r
}

// Coarser returns Site, Host and Domain. Each function groups more websites under one request than the previous function. The
// argument may be a result of Request or of an earlier function: the result is the same.
func (n Normalizer) Coarser() []func(client.Request) client.Request {
	return []func(client.Request) client.Request{n.Site, n.Host, n.Domain}
}

// withoutWWW removes each leading "www." of a host if the rest can be registered.
func withoutWWW(host string) string {
	for {
		rest, ok := strings.CutPrefix(host, "www.")
		if !ok || !isRegistrable(rest) {
			return host
		}
		host = rest
	}
}

// isRegistrable reports whether a host can be registered, unlike com and co.uk. Private suffixes such as github.io count as
// registered: they are websites of their owners, and that part of the public suffix list changes often, while a request must
// not change.
func isRegistrable(host string) bool {
	suffix, icann := publicsuffix.PublicSuffix(host)
	return isDomain(host) && !(icann && suffix == host)
}

// isDomain reports whether a host is a domain name, not an address or a name without a dot. A top-level domain starts with a
// letter.
func isDomain(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	return dot >= 0 && host[dot+1] >= 'a'
}
