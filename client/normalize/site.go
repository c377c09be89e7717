package normalize

import (
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/bulkcat/bulkcat/client"
)

// Site returns the request for the website of r, which is the same for all spellings of the website: it has
// no "www.", query and trailing slashes, and has the Normalizer's scheme. The rest of the path stays. A host
// with a port, an address and a name without a dot keep their scheme, because the other scheme rarely leads
// to the same website. Site returns the request for a product unchanged.
//
// r must be a result of Request of the same Normalizer. Site of the result is the result itself.
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
	host, _, hasPort := strings.Cut(authority, ":") // a part of an IPv6 address is not a domain
	name := withoutWWW(host)
	rest = rest[len(host)-len(name):]
	scheme := was
	if isDomain(name) && !hasPort {
		scheme = n.scheme()
	}
	if scheme == was && len(was)+len("://")+len(rest) == len(website) {
		return website // avoids an allocation for most websites
	}
	return scheme + "://" + rest
}

// Host returns the request for the host of the website r, and its port: the Site of the root. It is the same for all pages
// of a host, and returns the request for a product unchanged. r must be a result of Request or Site of the same Normalizer.
func (n Normalizer) Host(r client.Request) client.Request {
	if r.Kind == client.Website {
		r.Input = n.site(r.Input)
		scheme, rest, _ := strings.Cut(r.Input, "://")
		authority, _, _ := strings.Cut(rest, "/")
		r.Input = r.Input[:len(scheme)+len("://")+len(authority)]
	}
	return r
}

// Domain returns the request for the registrable domain of the website r, such as example.co.uk, by the list of public
// suffixes, of which the private ones count: someone.github.io is a domain. A name that cannot be registered, an address and
// a name without a dot are their own Host. r must be a result of Request, Site or Host of the same Normalizer.
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

// Coarser are the steps from the request of one spelling to those of more and more websites: Site, Host and Domain. Each step
// takes the result of Request or of a step before, and gives the same for both.
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

// isRegistrable reports whether a host can have an owner, unlike com and co.uk. Private suffixes such as
// github.io are websites of their owners. That part of the public suffix list changes often, and the key of
// a request must not change.
func isRegistrable(host string) bool {
	suffix, icann := publicsuffix.PublicSuffix(host)
	return isDomain(host) && !(icann && suffix == host)
}

// isDomain reports whether a host is a domain name, and not an address or a name without a dot. A top-level
// domain starts with a letter.
func isDomain(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	return dot >= 0 && host[dot+1] >= 'a'
}
