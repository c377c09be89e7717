package client

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Site gives the request that stands for all spellings of a website: without "www.", query
// and slashes at the end, and with the Normalizer's scheme. The rest of the path stays. A host
// with a port, an address and a name without a dot keep their scheme, since there the other
// scheme rarely leads to the same. Site of a product is the request itself.
//
// r comes from Request of the same Normalizer; so could the result, which is its own Site.
func (n Normalizer) Site(r Request) Request {
	if r.Kind == Website {
		r.Input = n.site(r.Input)
	}
	return r
}

func (n Normalizer) site(website string) string {
	was, rest, _ := strings.Cut(website, "://")
	rest, _, _ = strings.Cut(rest, "?")
	rest = strings.TrimRight(rest, "/")
	authority, _, _ := strings.Cut(rest, "/")
	host, _, hasPort := strings.Cut(authority, ":") // of an IPv6 address a piece, which is no domain
	name := withoutWWW(host)
	rest = rest[len(host)-len(name):]
	scheme := was
	if isDomain(name) && !hasPort {
		scheme = n.scheme()
	}
	if scheme == was && len(was)+len("://")+len(rest) == len(website) {
		return website // most are
	}
	return scheme + "://" + rest
}

// withoutWWW removes each "www." that begins a host, if what is left can be registered.
func withoutWWW(host string) string {
	for {
		rest, ok := strings.CutPrefix(host, "www.")
		if !ok || !isRegistrable(rest) {
			return host
		}
		host = rest
	}
}

// isRegistrable says whether a host can have an owner: com and co.uk have none. Names below
// which a company lets others have theirs, such as github.io, are the company's own site.
// They are the part of the list that changes often, and requests keep their keys.
func isRegistrable(host string) bool {
	suffix, icann := publicsuffix.PublicSuffix(host)
	return isDomain(host) && !(icann && suffix == host)
}

// isDomain tells a domain name from an address and from a name without a dot. A top-level
// domain starts with a letter.
func isDomain(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	return dot >= 0 && host[dot+1] >= 'a'
}
