package embedded

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// fetchSite gets a website's page. A website is asked for in one spelling, and some are
// reached only in another: with "www.", or by http.
func (s *Service) fetchSite(ctx context.Context, input string, u *url.URL) (page.Page, error) {
	p, err := s.fetch(ctx, input)
	if !isUnreached(err) {
		return p, err
	}
	host := u.Host // that err is of
	for _, other := range otherURLs(u) {
		if reasonOf(err) == page.DNS && other.Host == host {
			continue
		}
		host = other.Host
		if p, err = s.fetch(ctx, other.String()); !isUnreached(err) {
			break
		}
	}
	return p, err
}

// isUnreached says whether a page failed because there was no server, which has shown at once.
// A site that is silent is not tried again: that takes seconds.
func isUnreached(err error) bool {
	switch reasonOf(err) {
	case page.DNS, page.Refused, page.Unreachable, page.TLS, page.Broken:
		return true
	}
	return false
}

// reasonOf gives "" for what is no failed fetch.
func reasonOf(err error) page.Reason {
	if failed, ok := errors.AsType[*page.Error](err); ok {
		return failed.Reason
	}
	return ""
}

// otherURLs gives the other URLs at which a website may be reached, the likeliest first. A
// port goes with its scheme.
func otherURLs(u *url.URL) []*url.URL {
	hosts, schemes := []string{u.Host}, []string{u.Scheme}
	if !strings.HasPrefix(u.Host, "www.") {
		hosts = append(hosts, "www."+u.Host)
	}
	if u.Scheme == "https" && u.Port() == "" {
		schemes = append(schemes, "http")
	}
	var urls []*url.URL
	for _, host := range hosts {
		for _, scheme := range schemes {
			other := *u
			other.Host, other.Scheme = host, scheme
			urls = append(urls, &other)
		}
	}
	return urls[1:]
}
