package embedded

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// fetchSite fetches a website's page. If no server answers at the URL, it tries the URL with
// "www." and the URL with http.
func (s *Service) fetchSite(ctx context.Context, input string, u *url.URL) (page.Page, error) {
	p, err := s.fetch(ctx, input)
	if !isUnreached(err) {
		return p, err
	}
	host := u.Host // of the URL that failed with err
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

// isUnreached reports whether a fetch has failed at once because there is no server. It is false for a timeout, because
// another try could take as long.
func isUnreached(err error) bool {
	switch reasonOf(err) {
	case page.DNS, page.Refused, page.Unreachable, page.TLS, page.Broken:
		return true
	}
	return false
}

// reasonOf returns the reason of a failed fetch; "" for other errors and for nil.
func reasonOf(err error) page.FailureKind {
	if failed, ok := errors.AsType[*page.Error](err); ok {
		return failed.Reason
	}
	return ""
}

// otherURLs returns the other URLs at which a website may be reached, the likeliest first. If the URL has a port, they have the
// same scheme.
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
