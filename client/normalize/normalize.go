package normalize

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/internal/weburl"
)

// Normalizer makes requests from inputs. Different spellings of a website or title give equal requests. The zero value is ready
// for use.
type Normalizer struct {
	Scheme          string // of a bare domain: "https" (the default) or "http"
	AskPlaceholders bool   // make requests from texts such as NULL and N/A, too, which stand for a missing value
}

// InputError says why an input is invalid.
type InputError struct {
	Input  string // as given
	Reason string // one line, without the input
}

// IsBlank reports whether the input is empty, or has no visible character.
func (e *InputError) IsBlank() bool { return e.Reason == errEmpty.Error() }

// Error returns the reason and up to 100 characters of the input, unless the input may contain a password.
func (e *InputError) Error() string {
	if e.Reason == errCredentials.Error() || e.Reason == errMail.Error() {
		return e.Reason
	}
	return fmt.Sprintf("%s: %.100q", e.Reason, e.Input)
}

// IsMissing reports whether a text is a placeholder for a missing value, such as NULL. With AskPlaceholders it is false.
func (n Normalizer) IsMissing(text string) bool { return !n.AskPlaceholders && isPlaceholder(text) }

// Request makes the request for an input. It does not check the classification. The error is an *InputError.
func (n Normalizer) Request(kind client.Kind, input, classification string) (client.Request, error) {
	normalize := n.website
	if kind == client.Product {
		normalize = n.product
	}
	var normalized string
	err := errPlaceholder
	if !n.IsMissing(input) {
		normalized, err = normalize(input)
	}
	if err != nil {
		return client.Request{}, &InputError{Input: input, Reason: err.Error()}
	}
	return client.Request{Kind: kind, Input: normalized, Classification: classification}, nil
}

var (
	errEmpty       = errors.New("the input is empty")
	errUTF8        = errors.New("the input is not valid UTF-8")
	errNotURL      = errors.New("not a website URL")
	errScheme      = errors.New("not a website URL: the scheme must be http or https")
	errProductURL  = errors.New("a product that begins with http:/ or https:/ is a URL, and this one is malformed")
	errCredentials = errors.New("a URL with a user name or password is not sent to a service")
	errNumber      = errors.New("not a website URL: " + weburl.ErrNumber.Error())
	errMail        = errors.New("a name and @ before the host: a mail address is no website, and a user name is not sent to a service")
	errSeveral     = errors.New("several websites in one input: give each a record of its own")
	errNoDot       = errors.New("not a website: a bare domain needs a dot")
)

// website normalizes a URL or a bare domain as browsers do (see package weburl). Scheme and host are in lower case, and the
// host is in punycode. It removes a default port, the fragment, the trailing dot of the host, dot segments, and the slash of an
// empty path. Path and query keep their case.
func (n Normalizer) website(input string) (string, error) {
	if !n.AskPlaceholders && isPlaceholderURL(input) {
		return "", errPlaceholder
	}
	if isPlainDomain(input) {
		return n.scheme() + "://" + input, nil
	}
	if isPlainURL(input) {
		return strings.TrimSuffix(input, "/"), nil
	}
	return n.anyWebsite(input)
}

func (n Normalizer) scheme() string { return cmp.Or(n.Scheme, "https") }

// isPlainDomain reports whether an input is a bare domain in normalized form, as most inputs are. It saves the time of parsing.
// If it is false, the input may still be valid.
func isPlainDomain(s string) bool {
	if len(s) > weburl.MaxName {
		return false
	}
	label := 0 // index at which the label starts
	before := ""
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' {
			if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
			continue
		}
		if !isPlainLabel(s[label:i]) || repeats(before, s[label:i]) {
			return false
		}
		before = s[label:i]
		if i == len(s) { // a top-level domain starts with a letter, unlike the last label of an address
			www := strings.LastIndex(s, "www.")
			return label > 0 && s[label] >= 'a' && (www <= 0 || s[www-1] == '.') // another host may begin there
		}
		label = i + 1
	}
	return false
}

// isPlainURL reports whether an input is only a scheme and a plain domain.
func isPlainURL(s string) bool {
	domain, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if domain, ok = strings.CutPrefix(s, "http://"); !ok {
			return false
		}
	}
	return isPlainDomain(strings.TrimSuffix(domain, "/"))
}

// isPlainLabel reports whether a label needs no more checks. A label with hyphens as third and fourth character may be punycode,
// which needs more checks.
func isPlainLabel(label string) bool {
	return label != "" && len(label) <= weburl.MaxLabel && label[0] != '-' && label[len(label)-1] != '-' &&
		(len(label) < 4 || label[2:4] != "--")
}

func (n Normalizer) anyWebsite(input string) (string, error) {
	text := weburl.Trim(input)
	switch {
	case isBlank(text):
		return "", errEmpty
	case !utf8.ValidString(text):
		return "", errUTF8
	}
	text, err := unlisted(text)
	if err != nil {
		return "", err
	}
	text, isBare, err := n.withScheme(text)
	if err != nil {
		return "", err
	}
	u, err := weburl.Parse(text)
	switch {
	case u.User != "" && isBare && !strings.Contains(u.User, ":"):
		return "", errMail
	case u.User != "":
		return "", errCredentials
	case errors.Is(err, weburl.ErrNumber):
		return "", errNumber
	case err != nil || u.Host == "http" || u.Host == "https": // https://https://example.com
		return "", errNotURL
	case isBare && !strings.ContainsAny(u.Host, ".["): // such as NULL.
		return "", errNoDot
	case isBare && isOtherNumber(text, u.Host):
		return "", errNumber
	}
	return u.String(), nil
}

// opaqueSchemes are schemes without "//" that occur in columns of links. Other text before a colon may be a host or a user
// name.
var opaqueSchemes = []string{"about", "data", "fax", "file", "ftp", "javascript", "mailto", "news", "sip", "skype", "sms", "tel", "urn", "whatsapp"}

// withScheme adds the scheme to a bare domain ("example.com", "//example.com").
func (n Normalizer) withScheme(text string) (_ string, isBare bool, err error) {
	if _, _, ok := weburl.CutScheme(text); ok {
		return text, false, nil
	}
	if scheme, _, ok := strings.Cut(text, "://"); ok && !strings.ContainsAny(scheme, "/?#.") {
		return "", false, errScheme
	}
	if scheme, _, ok := strings.Cut(text, ":"); ok && slices.Contains(opaqueSchemes, strings.ToLower(scheme)) {
		return "", false, errScheme
	}
	bare := strings.TrimPrefix(text, "//")
	if host, _, _ := strings.Cut(bare, "/"); !strings.ContainsAny(host, ".。．｡[") {
		return "", false, errNoDot
	}
	return n.scheme() + "://" + bare, true, nil
}

// isOtherNumber reports whether the host of a URL is an IPv4 address that text spells differently. Without a scheme, such a
// number is probably a price or a version (3.14).
func isOtherNumber(text, host string) bool {
	addr, err := netip.ParseAddr(host)
	_, rest, _ := strings.Cut(text, "://")
	return err == nil && addr.Is4() && !strings.HasPrefix(rest, host)
}

// product normalizes a title to Unicode's composed form (NFC) with single spaces. A product may also be a
// URL.
func (n Normalizer) product(input string) (string, error) {
	title := input
	if !isTidy(input) {
		if !utf8.ValidString(input) {
			return "", errUTF8
		}
		title = foldSpace(norm.NFC.String(unmarked(input)))
	}
	if isBlank(title) {
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

// isTidy reports whether a title is ASCII with single inner spaces, and without the characters that begin tags and entities.
// Most titles are, and are normalized already.
func isTidy(s string) bool {
	before := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf || c == '<' || c == '&' || c <= ' ' && (c != ' ' || before == ' ') {
			return false
		}
		before = c
	}
	return before != ' '
}

// isBlank reports whether a trimmed text has no visible character: control characters, zero-width spaces and marks of the byte
// order are none.
func isBlank(s string) bool { return strings.IndexFunc(s, unicode.IsGraphic) < 0 }

// foldSpace trims s and replaces each run of white space by a space.
func foldSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// isURL reports whether a title begins like an http or https URL. A colon without a slash may be a part of a title ("HTTP: The
// Definitive Guide").
func isURL(s string) bool {
	const longest = len("https:/")
	head := strings.ReplaceAll(strings.ToLower(s[:min(len(s), longest)]), `\`, "/")
	return strings.HasPrefix(head, "http:/") || head == "https:/"
}
