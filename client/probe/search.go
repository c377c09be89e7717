package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/internal/reply"
)

// nameSearch is the search for the name of an operation's input.
type nameSearch struct {
	kind       client.Kind
	configured client.ParamIn // place that the options give
	all        []string       // the configured name first
	place      client.ParamIn // place of the next request
	names      []string       // names that may be right
	known      bool           // one of names is right: they worked together
	closed     bool           // the service refuses the key for this operation
	found      string         // the right name; "" if not known
	last       string         // result of the last request that did not work, in words
	status     int            // HTTP status of that request
}

func newSearch(kind client.Kind, place client.ParamIn, configured string, candidates []string) nameSearch {
	all := firstThen(configured, candidates)
	return nameSearch{kind: kind, configured: place, all: all, place: place, names: all}
}

func (s *nameSearch) input() string {
	if s.kind == client.Product {
		return probeProduct
	}
	return probeWebsite
}

func (s *nameSearch) classification() string { return client.Classifications(s.kind)[0] }

func (s *nameSearch) works() bool { return s.found != "" }

// open reports whether there are names left to try.
func (s *nameSearch) open() bool { return s.found == "" && !s.closed && len(s.names) > 0 }

// namesIn returns the names that have not been tried alone in a place.
func (s *nameSearch) namesIn(place client.ParamIn) []string {
	if place == s.configured {
		return s.all[1:]
	}
	return s.all
}

func (s *nameSearch) failure() error {
	if s.works() {
		return nil
	}
	return &nameError{Kind: s.kind, Seen: s.last, Status: s.status}
}

// firstThen returns first, and then the others without it.
func firstThen[T comparable](first T, others []T) []T {
	return append([]T{first}, slices.DeleteFunc(slices.Clone(others), func(other T) bool { return other == first })...)
}

func placeName(place client.ParamIn) string {
	switch place {
	case client.InForm:
		return "a form as the body"
	case client.InJSON:
		return "a JSON body"
	}
	return "the query"
}

// tryTogether sends all names at once: most services ignore unknown names.
func (p *prober) tryTogether(s *nameSearch, place client.ParamIn) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		names := s.namesIn(place)
		_, seen, ok, err := p.ask(ctx, s, s.classification(), place, names...)
		if ok {
			s.place, s.names, s.known = place, names, true
		} else {
			s.last = seen
		}
		return seen, err
	}
}

// tryNext tries the next name alone or, if the names worked together, half of them.
func (p *prober) tryNext(s *nameSearch) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		some := s.names[:1]
		if s.known {
			some = s.names[:max(1, len(s.names)/2)]
		}
		_, seen, ok, err := p.ask(ctx, s, s.classification(), s.place, some...)
		switch {
		case err != nil:
		case ok && len(some) == 1:
			s.found = some[0]
		case ok:
			s.names = some
		default:
			s.names, s.last = s.names[len(some):], seen
			s.closed = len(some) == 1 && !s.known && refusesKey(p.transport.status)
		}
		return strings.Join(some, ", ") + ": " + seen, err
	}
}

// tryProduct tries the next name in the place of the website's input.
func (p *prober) tryProduct(ctx context.Context) (string, error) {
	p.website.eliminate(p)
	p.product.place = p.website.place
	return p.tryNext(&p.product)(ctx)
}

// eliminate takes the last name that is left of the names that worked together.
func (s *nameSearch) eliminate(p *prober) {
	switch {
	case s.works() || !s.known:
	case len(s.names) == 1:
		s.found = s.names[0]
		p.assume("the probe assumes that the %s's input is %s: the other names do not work", s.kind, s.found)
	case len(s.names) > 1:
		s.last = "one of " + joinNames(s.names) + " works in " + placeName(s.place)
	}
}

// memberOf returns the member of a custom classification's answer; "" if there is none.
func memberOf(body []byte, classification string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return ""
	}
	if _, ok := members[classification]; ok {
		return classification
	}
	for name := range members {
		if _, err := client.ParseAnswer(body, name); err == nil {
			return name // the only list of entries: else there would be no answer
		}
	}
	return ""
}

// joinNames joins two or more names as in "a, b and c".
func joinNames(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// transport sends at most maxRequests requests, and records properties of the responses.
type transport struct {
	next    http.RoundTripper
	sent    int             // number of requests
	status  int             // HTTP status of the last response; 0 if there was none
	success int             // HTTP status of the last answer
	limit   float64         // requests per second; 0 if unknown
	headers map[string]bool // names of the limit's headers in the responses
}

func newTransport(next http.RoundTripper) *transport {
	return &transport{next: next, headers: make(map[string]bool)}
}

var errBudget error = &client.OptionError{Option: "BaseURL", Err: errors.New("redirects used up the requests of the probe")}

// RoundTrip sends one request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.status = 0
	if t.sent == maxRequests {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, errBudget
	}
	t.sent++
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	t.status = resp.StatusCode
	if limit := reply.LimitOf(resp.Header, time.Now()); limit.PerSecond > 0 {
		t.limit = limit.PerSecond
	}
	for _, name := range knownRateHeaders {
		if resp.Header.Get(name) != "" {
			t.headers[name] = true
		}
	}
	return resp, nil
}

// knownRateHeaders are the headers that a profile may name. Other header names may be secret.
var knownRateHeaders = []string{
	"RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
	"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
	"X-Rate-Limit-Limit", "X-Rate-Limit-Remaining", "X-Rate-Limit-Reset", "Retry-After",
}

// refusesKey reports whether a status says that the key is missing, wrong or not allowed.
func refusesKey(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}
