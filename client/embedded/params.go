package embedded

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

const (
	// maxInput is the most bytes of an input: more than any URL or title, and less than a document.
	maxInput = 64 << 10

	// maxBody is the most bytes of a request's body: an input whose every byte is escaped as \u00XX, and the rest of the
	// object.
	maxBody = 6*maxInput + 4<<10
)

// params are the parameters of a categorization.
type params struct {
	input          string
	classification string
}

// readParams reads the parameters from the query, and the parameters that the query does not have from the body: a form or a JSON
// object, as its content type says. If a query or a form repeats a parameter, the first value counts. A classification that is not
// given is the default of the operation.
func readParams(w http.ResponseWriter, r *http.Request, op *operation) (params, error) {
	var p params
	if !p.readForm(r.URL.RawQuery, op.input) {
		return p, malformed("the query is not URL-encoded")
	}
	if len(p.input) > maxInput {
		return p, tooLong(http.StatusRequestURITooLong)
	}
	if r.Body != nil && r.Body != http.NoBody {
		if err := p.readBody(w, r, op.input); err != nil {
			return p, err
		}
	}
	if p.input == "" {
		return p, missing(op.input)
	}
	if p.classification = cmp.Or(p.classification, op.standard); p.classification == "" {
		return p, missing("classification")
	}
	return p, nil
}

// readBody reads parameters from the body. It ignores other types: clients set a Content-Type on requests without a body.
func (p *params) readBody(w http.ResponseWriter, r *http.Request, inputName string) error {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isForm, isJSON := media == "application/x-www-form-urlencoded", media == "application/json"
	if !isForm && !isJSON {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return tooLong(http.StatusRequestEntityTooLarge)
	case err != nil:
		return malformed("the body is incomplete")
	case isForm && !p.readForm(string(body), inputName):
		return malformed("the body is not URL-encoded")
	case isJSON && len(body) > 0 && !p.readJSON(body, inputName):
		return malformed("the body is not a JSON object with strings for parameters")
	case len(p.input) > maxInput:
		return tooLong(http.StatusRequestEntityTooLarge)
	}
	return nil
}

// readForm is url.ParseQuery for two names, without the map. It reports whether the pairs that it decoded are valid.
func (p *params) readForm(form, inputName string) bool {
	for form != "" {
		var pair string
		pair, form, _ = strings.Cut(form, "&")
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return false
		}
		field := p.field(name, inputName)
		if field == nil || *field != "" {
			continue
		}
		if *field, err = url.QueryUnescape(value); err != nil {
			return false
		}
	}
	return true
}

func (p *params) readJSON(body []byte, inputName string) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return false
	}
	for name, raw := range object {
		field := p.field(name, inputName)
		if field == nil || *field != "" {
			continue
		}
		if json.Unmarshal(raw, field) != nil {
			return false
		}
	}
	return true
}

// field returns the field of the named parameter; nil if the parameter is unknown.
func (p *params) field(name, inputName string) *string {
	switch name {
	case inputName:
		return &p.input
	case "classification":
		return &p.classification
	}
	return nil
}
