package client

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Normalizer makes requests of inputs, so that different spellings of a website or title are equal
// requests. The zero value is ready for use.
type Normalizer struct {
	Scheme string // of a bare domain: "https" (the default) or "http"
}

// InputError says why no request can be made of an input.
type InputError struct {
	Input  string // as given
	Reason string // one line, without the input
}

// Error returns the reason and up to 100 characters of the input, unless the input may contain a password.
func (e *InputError) Error() string {
	if e.Reason == errCredentials.Error() || e.Reason == errMail.Error() {
		return e.Reason
	}
	return fmt.Sprintf("%s: %.100q", e.Reason, e.Input)
}

// Request normalizes an input of a kind. It does not check the classification. The error is an *InputError.
func (n Normalizer) Request(kind Kind, input, classification string) (Request, error) {
	normalize := n.website
	if kind == Product {
		normalize = n.product
	}
	normalized, err := normalize(input)
	if err != nil {
		return Request{}, &InputError{Input: input, Reason: err.Error()}
	}
	return Request{Kind: kind, Input: normalized, Classification: classification}, nil
}

var (
	errEmpty       = errors.New("the input is empty")
	errUTF8        = errors.New("the input is not valid UTF-8")
	errNotURL      = errors.New("not a website URL")
	errScheme      = errors.New("not a website URL: the scheme must be http or https")
	errProductURL  = errors.New("a product that begins with http:// or https:// is a URL, and this one is malformed")
	errCredentials = errors.New("a URL with a user name or password is not sent to a service")
	errMail        = errors.New("a name and @ before the host: a mail address is no website, and a user name is not sent to a service")
	errNoDot       = errors.New("not a website: a bare domain needs a dot")
)

// website normalizes a URL or a bare domain: scheme and host in lower case, the host in punycode, without
// default port, fragment, the trailing dot of the host, and the slash of an empty path (RFC 3986 §6.2.3).
// Path and query keep their case.
func (n Normalizer) website(input string) (string, error) {
	if isPlainDomain(input) {
		return n.scheme() + "://" + input, nil
	}
	if isPlainURL(input) {
		return strings.TrimSuffix(input, "/"), nil
	}
	return n.anyWebsite(input)
}

func (n Normalizer) scheme() string {
	if n.Scheme == "" {
		return "https"
	}
	return n.Scheme
}

// isPlainDomain reports whether an input is a bare domain that is normalized already, as most inputs are.
// Parsing those would take a sixth of a run over stored answers. Other inputs may be valid as well.
func isPlainDomain(s string) bool {
	if len(s) > maxHost {
		return false
	}
	label := 0 // index at which the label starts
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' {
			if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
			continue
		}
		if !isPlainLabel(s[label:i]) {
			return false
		}
		if i == len(s) { // a top-level domain starts with a letter, unlike the last label of an address
			return label > 0 && s[label] >= 'a'
		}
		label = i + 1
	}
	return false
}

// isPlainURL reports whether an input is a scheme and a plain domain, and nothing else.
func isPlainURL(s string) bool {
	domain, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if domain, ok = strings.CutPrefix(s, "http://"); !ok {
			return false
		}
	}
	return isPlainDomain(strings.TrimSuffix(domain, "/"))
}

// isPlainLabel reports whether a label needs no further check. Labels with hyphens in the third and fourth
// place may be punycode, and need one.
func isPlainLabel(label string) bool {
	return label != "" && len(label) <= maxLabel && label[0] != '-' && label[len(label)-1] != '-' &&
		(len(label) < 4 || label[2:4] != "--")
}

func (n Normalizer) anyWebsite(input string) (string, error) {
	text, err := n.withScheme(strings.TrimSpace(input))
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", errNotURL
	}
	if _, hasPassword := u.User.Password(); u.User != nil && !hasPassword && !strings.Contains(input, "://") {
		return "", errMail
	}
	if u.User != nil {
		return "", errCredentials
	}
	host, err := normalizeHost(u.Hostname())
	if err != nil {
		return "", err
	}
	port, err := normalizePort(u.Scheme, u.Port())
	if err != nil {
		return "", err
	}
	path := u.EscapedPath()
	switch {
	case path == "/" && u.RawQuery == "":
		path = ""
	case path == "" && u.RawQuery != "":
		path = "/"
	}
	query := ""
	if u.RawQuery != "" {
		query = "?" + strings.ReplaceAll(u.RawQuery, " ", "%20")
	}
	return u.Scheme + "://" + host + port + path + query, nil
}

// opaqueSchemes are schemes that occur in columns of links and have no "//" after them. Other text before a colon may be a
// host or a user name.
var opaqueSchemes = []string{"about", "data", "fax", "file", "ftp", "javascript", "mailto", "news", "sip", "skype", "sms", "tel", "urn", "whatsapp"}

// withScheme adds the scheme to a bare domain ("example.com", "//example.com"). It refuses text that
// url.Parse would accept although it is no URL.
func (n Normalizer) withScheme(text string) (string, error) {
	switch {
	case text == "":
		return "", errEmpty
	case !utf8.ValidString(text):
		return "", errUTF8
	}
	if scheme, rest, ok := strings.Cut(text, "://"); ok && !strings.ContainsAny(scheme, "/?#.") {
		scheme = strings.ToLower(scheme)
		if scheme != "http" && scheme != "https" {
			return "", errScheme
		}
		return scheme + "://" + rest, nil
	}
	if scheme, _, ok := strings.Cut(text, ":"); ok && slices.Contains(opaqueSchemes, strings.ToLower(scheme)) {
		return "", errScheme
	}
	bare := strings.TrimPrefix(text, "//")
	if host, _, _ := strings.Cut(bare, "/"); !strings.ContainsAny(host, ".。．｡[") {
		return "", errNoDot
	}
	return n.scheme() + "://" + bare, nil
}

// hostProfile maps hosts as browsers do (UTS #46, non-transitional, hyphens anywhere), and also accepts
// underscores, which occur in real host names.
var hostProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.StrictDomainName(false), idna.CheckHyphens(false))

const (
	maxHost  = 253 // RFC 1035 §2.3.4, in text form
	maxLabel = 63
)

func normalizeHost(host string) (string, error) {
	if host == "" || !utf8.ValidString(host) { // url.Parse has decoded escapes
		return "", errNotURL
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" {
			return "", errNotURL
		}
		if ip.Is6() {
			return "[" + ip.String() + "]", nil
		}
		return ip.String(), nil
	}
	ascii, err := hostProfile.ToASCII(host)
	if err != nil {
		return "", errNotURL
	}
	ascii = strings.TrimSuffix(ascii, ".")
	if ascii == "http" || ascii == "https" { // https://https://example.com
		return "", errNotURL
	}
	if len(ascii) > maxHost || strings.ContainsFunc(ascii, notInHost) {
		return "", errNotURL
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > maxLabel {
			return "", errNotURL
		}
	}
	return ascii, nil
}

func notInHost(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_')
}

// normalizePort returns a port such as ":8080", or "" for the scheme's default port.
func normalizePort(scheme, port string) (string, error) {
	if port == "" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", errNotURL
	}
	if scheme == "https" && n == 443 || scheme == "http" && n == 80 {
		return "", nil
	}
	return ":" + strconv.FormatUint(n, 10), nil
}

// product normalizes a title to Unicode's composed form (NFC) with single spaces. A product may also be a
// URL.
func (n Normalizer) product(input string) (string, error) {
	title := input
	if !isTidy(input) {
		if !utf8.ValidString(input) {
			return "", errUTF8
		}
		title = foldSpace(norm.NFC.String(input))
	}
	if title == "" {
		return "", errEmpty
	}
	if isURL(title) {
		website, err := n.website(title)
		if errors.Is(err, errNotURL) {
			err = errProductURL
		}
		return website, err
	}
	return title, nil
}

// isTidy reports whether a title is normalized already, as most are: ASCII with single inner spaces.
func isTidy(s string) bool {
	before := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf || c <= ' ' && (c != ' ' || before == ' ') {
			return false
		}
		before = c
	}
	return before != ' '
}

// foldSpace trims s and replaces each run of white space by a space. It returns s itself if nothing
// changes.
func foldSpace(s string) string {
	fields := strings.Fields(s)
	switch len(fields) {
	case 0:
		return ""
	case 1:
		return fields[0]
	}
	size := len(fields) - 1
	for _, f := range fields {
		size += len(f)
	}
	if size == len(s) && !strings.ContainsAny(s, "\t\n\v\f\r") {
		return s
	}
	return strings.Join(fields, " ")
}

func isURL(s string) bool {
	const longest = len("https://")
	head := strings.ToLower(s[:min(len(s), longest)])
	return strings.HasPrefix(head, "http://") || head == "https://"
}
