package client

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Header is a header field that a service wants beside the API key: a tenant, a gateway's
// token.
type Header struct {
	Name   string
	Value  string
	Secret bool // never told in an error
}

const keyHeader = "X-Api-Key"

// ownHeaders are set by the exchange itself, by name: the value says what to use instead,
// if there is anything.
var ownHeaders = map[string]string{
	keyHeader:             "the key comes from BULKCAT_API_KEY or --api-key-file",
	"Host":                "the host comes from the base URL",
	"Content-Type":        "",
	"Content-Length":      "",
	"Content-Encoding":    "",
	"Accept-Encoding":     "",
	"Transfer-Encoding":   "",
	"Te":                  "",
	"Trailer":             "",
	"Connection":          "",
	"Keep-Alive":          "",
	"Upgrade":             "",
	"Expect":              "",
	"Proxy-Connection":    "",
	"Proxy-Authorization": "a proxy's user and password go into HTTPS_PROXY",
}

// credentials are headers that hold nothing but secrets.
var credentials = []string{"Authorization", "Cookie"}

// ParseHeader reads "Name: value". It is for text that others may see, such as a command
// line, and refuses credentials. No error repeats the value.
func ParseHeader(text string) (Header, error) {
	h, err := parseHeader(text)
	if err == nil && slices.Contains(credentials, http.CanonicalHeaderKey(h.Name)) {
		err = fmt.Errorf("%s holds a secret that others could see here: put it into a --header-file", h.Name)
	}
	return h, err
}

// ReadHeaders reads one header a line, all of them secret. Empty lines, and lines that
// begin with #, say nothing. The error names the line, but not what it holds.
func ReadHeaders(r io.Reader) ([]Header, error) {
	var headers []Header
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		h, err := parseHeader(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		h.Secret = true
		headers = append(headers, h)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read headers: %w", err)
	}
	return headers, nil
}

var errHeader = errors.New("not a header: write 'Name: value'")

func parseHeader(text string) (Header, error) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return Header{}, errHeader
	}
	h := Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
	return h, h.check()
}

// check does not trust the name either: of a line without a colon it may be a secret.
func (h Header) check() error {
	if !httpguts.ValidHeaderFieldName(h.Name) {
		return errHeader
	}
	instead, own := ownHeaders[http.CanonicalHeaderKey(h.Name)]
	switch {
	case own && instead != "":
		return fmt.Errorf("the header %s cannot be set: %s", h.Name, instead)
	case own:
		return fmt.Errorf("the header %s cannot be set: it belongs to the exchange itself", h.Name)
	case h.Value == "":
		return fmt.Errorf("the header %s has no value", h.Name)
	case !httpguts.ValidHeaderFieldValue(h.Value):
		return fmt.Errorf("the header %s has a character in its value that no header can carry", h.Name)
	}
	return nil
}
