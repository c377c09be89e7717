// Package weburl parses absolute http and https URLs as browsers do, by the URL standard of the WHATWG
// (https://url.spec.whatwg.org). It differs from the standard where a URL is the key of a paid request:
//
//   - A host must be a name that DNS can hold, or an address. The dot at its end is removed.
//   - The port 0, and line breaks within a host or between two URLs, are errors.
//   - Characters that servers take alike, escaped or not, stay as they are. The escapes differ from the escapes of browsers in a few places, and cannot change: see escapePath and escapeQuery.
package weburl

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// URL is the parts of a URL without its fragment. The scheme, host and port are normalized.
type URL struct {
	Scheme string // "http" or "https"
	User   string // as given, with the "@"; "" if there is none
	Host   string // in lower case and punycode; an IPv6 address is in brackets
	Port   string // "" for the default port of the scheme
	Path   string // escaped; it is empty or begins with a slash
	Query  string // escaped, without the question mark
}

// The errors of Parse and Host.
var (
	ErrScheme = errors.New("the scheme must be http or https")
	ErrHost   = errors.New("the host is no domain name and no address")
	ErrNumber = errors.New("its host ends in a number but is no address")
	ErrPort   = errors.New("the port is no number from 1 to 65535")
	ErrLines  = errors.New("there is a line break within the host, or between two URLs")
)

// CutScheme returns the scheme of an http or https URL, and the text after the scheme and the slashes.
// Slashes may be missing, too many, or backslashes.
func CutScheme(text string) (scheme, rest string, ok bool) {
	colon := strings.IndexByte(text, ':')
	if colon < 0 {
		return "", text, false
	}
	for _, scheme := range []string{"https", "http"} {
		if strings.EqualFold(text[:colon], scheme) {
			return scheme, strings.TrimLeft(text[colon+1:], `/\`), true
		}
	}
	return "", text, false
}

// Trim removes white space and control characters around a URL.
func Trim(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return r <= ' ' || unicode.IsSpace(r) })
}

// Parse parses an absolute URL. With an error, the URL has only its Scheme and User.
func Parse(text string) (URL, error) {
	text = Trim(text)
	scheme, rest, ok := CutScheme(text)
	if !ok {
		return URL{}, ErrScheme
	}
	u := URL{Scheme: scheme}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := rest, ""
	if end := strings.IndexAny(rest, `/\`); end >= 0 {
		authority, path = rest[:end], rest[end:]
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		u.User, authority = authority[:at+1], authority[at+1:]
	}
	if hasLines(authority) || hasLines(text) && isSeveral(text) {
		return u, ErrLines
	}
	host, port, err := cutPort(authority)
	if err != nil {
		return u, err
	}
	if u.Host, err = Host(host); err != nil {
		return u, err
	}
	if u.Port, err = parsePort(port, scheme); err != nil {
		return u, err
	}
	u.Path, u.Query = escapePath(removeDots(lineRemover.Replace(path))), escapeQuery(lineRemover.Replace(query))
	return u, nil
}

// hasLines reports whether a text has one of the characters that browsers remove from a URL.
func hasLines(text string) bool { return strings.ContainsAny(text, "\t\n\r") }

var lineRemover = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// isSeveral reports whether another URL follows a line break, as in a cell of a spreadsheet with several
// URLs. Browsers would join both to one URL.
func isSeveral(text string) bool {
	for i, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' || r == '\r' }) {
		if i > 0 && strings.Contains(line, "://") {
			return true
		}
	}
	return false
}

// cutPort splits an authority without user into the host and the port.
func cutPort(authority string) (host, port string, err error) {
	end := 0
	if strings.HasPrefix(authority, "[") {
		if end = strings.IndexByte(authority, ']') + 1; end == 0 {
			return "", "", ErrHost
		}
	}
	name, port, _ := strings.Cut(authority[end:], ":")
	return authority[:end] + name, port, nil
}

// parsePort returns a port without leading zeros; "" for the scheme's default port.
func parsePort(port, scheme string) (string, error) {
	if port == "" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", ErrPort
	}
	if scheme == "https" && n == 443 || scheme == "http" && n == 80 {
		return "", nil
	}
	return strconv.FormatUint(n, 10), nil
}

// String returns the URL in its normalized form: without the slash of an empty path (RFC 3986 §6.2.3).
func (u URL) String() string {
	switch {
	case u.Path == "/" && u.Query == "":
		u.Path = ""
	case u.Path == "" && u.Query != "":
		u.Path = "/"
	}
	return u.join()
}

func (u URL) join() string {
	port, query := "", ""
	if u.Port != "" {
		port = ":" + u.Port
	}
	if u.Query != "" {
		query = "?" + u.Query
	}
	return u.Scheme + "://" + u.User + u.Host + port + u.Path + query
}

// ForRequest parses an absolute URL for a request of net/http. It escapes percent signs that begin no escape: the page is the
// same.
func ForRequest(text string) (*url.URL, error) {
	u, err := Parse(text)
	if err != nil {
		return nil, err
	}
	u.Path = escapePercent(u.Path)
	return url.Parse(u.join())
}
