package client

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Header is a header field that is sent with every request, such as a tenant or a gateway's token.
type Header struct {
	Name   string // in any case
	Value  string
	Secret bool // the value is hidden in errors and answers
}

const keyHeader = "X-Api-Key"

// ownHeaders are the headers that a Header cannot set, with advice; "" for none.
var ownHeaders = map[string]string{
	keyHeader:             "give the API key separately",
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

// credentials are the headers that always hold a secret.
var credentials = []string{"Authorization", "Cookie"}

// ParseHeader parses "Name: value". The text is not secret, as on a command line, so ParseHeader refuses the headers
// Authorization and Cookie. No error contains the value.
func ParseHeader(text string) (Header, error) {
	h, err := parseHeader(text)
	if err == nil && slices.Contains(credentials, http.CanonicalHeaderKey(h.Name)) {
		err = &OptionError{"Headers", fmt.Errorf("%s holds a secret, which other users can see here: put the header into a file", h.Name)}
	}
	return h, err
}

// ReadHeaders reads one header per line and marks each as secret. It ignores empty lines and lines that
// start with #. An error gives the number of the line, but not its text.
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

// check returns an error if the header cannot be sent. The error never contains the value, or an invalid name, which may be a
// part of a secret.
func (h Header) check() error {
	if !httpguts.ValidHeaderFieldName(h.Name) {
		return errHeader
	}
	instead, own := ownHeaders[http.CanonicalHeaderKey(h.Name)]
	switch {
	case own && http.CanonicalHeaderKey(h.Name) == keyHeader:
		return &OptionError{"APIKey", fmt.Errorf("the header %s cannot be set: %s", h.Name, instead)}
	case own:
		return fmt.Errorf("the header %s cannot be set: %s", h.Name, cmp.Or(instead, "bulkcat sets it itself"))
	case h.Value == "":
		return fmt.Errorf("the header %s has no value", h.Name)
	case !httpguts.ValidHeaderFieldValue(h.Value):
		return fmt.Errorf("the header %s has a character in its value that is not allowed in a header", h.Name)
	}
	return nil
}
