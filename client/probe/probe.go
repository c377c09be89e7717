// Package probe finds out how to ask a service: it sends a few requests for the properties that the interface leaves open, and
// describes the service in a [Profile].
package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// maxRequests is the most requests that a probe sends, redirects included.
const maxRequests = 16

// Options describe a probe.
type Options struct {
	Service client.Options     // the probe first tries the names and the place given here
	Custom  string             // a custom classification to probe; "" for none
	Observe func(Step, string) // called after each request with its result in words; may be nil
}

// Step is one request of a probe.
type Step struct {
	Number    int    // from 1
	Operation string // "usage", "website" or "product"
	Purpose   string // what the request finds out
	If        string // condition under which the request is sent; "" for always
}

// nameError says that an operation works with none of the names that a probe tried.
type nameError struct {
	Kind   client.Kind
	Seen   string // result of the last attempt, in words
	Status int    // HTTP status of the last attempt; 0 if there was no response
}

// Error returns the kind and the last result.
func (e *nameError) Error() string {
	return fmt.Sprintf("the %s operation works with none of the names that were tried; the last result was: %s", e.Kind, e.Seen)
}

// OptionName returns "client.APIKey" if the service refused the key; "" otherwise.
func (e *nameError) OptionName() string {
	if refusesKey(e.Status) {
		return "client.APIKey"
	}
	return ""
}

// Plan returns the requests that Run may send, in order. It sends none.
func Plan(options Options) []Step {
	var plan []Step
	for _, s := range newProber(options).steps() {
		plan = append(plan, s.Step)
	}
	return plan
}

// Run finds the properties of a service that the interface leaves open. It sends at most 16 requests, each
// within client.Options.Timeout. The profile has the results so far even if the error is not nil. The error names
// each operation that does not work, or is the error that ended the probe early.
func Run(ctx context.Context, options Options) (Profile, error) {
	c, err := client.New(options.Service)
	if err != nil {
		return Profile{}, err
	}
	options.Service.BaseURL = c.Source()
	p := newProber(options)
	for _, s := range p.steps() {
		if !s.needed() {
			continue
		}
		seen, err := s.send(ctx)
		if err != nil {
			return p.finish(), fmt.Errorf("the probe ended at its request %d, %s: %w", p.transport.sent, s.Purpose, err)
		}
		if options.Observe != nil {
			options.Observe(s.Step, seen)
		}
	}
	profile := p.finish()
	return profile, errors.Join(p.website.failure(), p.product.failure())
}

// The inputs of a probe, which every service can categorize.
const (
	probeWebsite = "https://www.wikipedia.org"
	probeProduct = "Cordless Drill 18V"
	probeBadKey  = "bulkcat-probe-wrong-key"
)

// The names that services use for their inputs, the most likely first.
var (
	websiteNames = []string{"url", "website", "domain", "query", "input"}
	productNames = []string{"query", "title", "product", "url", "text"}
)

type prober struct {
	service       client.Options
	custom        string // see Options.Custom
	transport     *transport
	website       nameSearch
	product       nameSearch
	before, after probedUsage
	answered      int      // number of requests
	refused       int      // number of requests
	badKey        int      // HTTP status
	nested        string   // see Profile.Member
	member        string   // see Profile.CustomMember
	assumed       []string // see Profile.Assumed
}

type probedUsage struct {
	client.Usage
	ok bool
}

func newProber(options Options) *prober {
	service := options.Service.WithDefaults()
	if t, ok := service.Transport.(*http.Transport); ok {
		t = t.Clone()
		t.DisableKeepAlives = true // net/http repeats a request when a kept connection breaks
		service.Transport = t
	}
	p := &prober{custom: options.Custom, transport: newTransport(service.Transport)}
	service.Transport = p.transport
	p.service = service
	p.website = newSearch(client.Website, service.ParamIn, service.WebsiteParam, websiteNames)
	p.product = newSearch(client.Product, service.ParamIn, service.ProductParam, productNames)
	return p
}

// step is a Step that can be executed.
type step struct {
	Step
	needed func() bool
	send   func(context.Context) (seen string, err error)
}

// steps returns every request that the probe may send. Each is sent at most once. To find the name of the website's input, the
// probe sends all names at once in each place, and then half of the names at a time. It looks for the product's name in the
// same place.
func (p *prober) steps() []step {
	var steps []step
	add := func(operation, purpose, condition string, needed func() bool, do func(context.Context) (string, error)) {
		steps = append(steps, step{Step{len(steps) + 1, operation, purpose, condition}, needed, do})
	}
	always := func() bool { return true }
	add("usage", "the remaining quota before the probe, and whether the key is valid", "", always, p.requestUsage(&p.before))

	w := &p.website
	add("website", fmt.Sprintf("the input as %s in %s", w.names[0], placeName(w.place)), "", always, p.tryNext(w))
	for _, place := range firstThen(w.place, []client.ParamIn{client.InQuery, client.InForm, client.InJSON}) {
		names := w.namesIn(place)
		add("website", fmt.Sprintf("as %s, all at once, in %s", joinNames(names), placeName(place)), "no request has worked",
			func() bool { return w.open() && !w.known }, p.tryTogether(w, place))
	}
	halvings := 4
	if p.custom != "" { // the custom classification needs a request
		halvings = 3
	}
	for range halvings {
		add("website", "half of the names that worked together, or the next name alone", "the name is not known", w.open, p.tryNext(w))
	}

	q := &p.product
	for i, name := range q.names[:min(len(q.names), len(productNames))] {
		condition := ""
		if i > 0 {
			condition = "the name is not known"
		}
		add("product", fmt.Sprintf("the input as %s in the same place", name), condition, q.open, p.tryProduct)
	}
	if p.custom != "" {
		add("product", "the member of "+p.custom, "a product works", q.works, p.askCustom)
	}
	add("usage", "the remaining quota after the probe", "usage works", func() bool { return p.before.ok }, p.requestUsage(&p.after))
	either := func() bool { return w.works() || q.works() }
	add("website", "the response to a wrong key", "an operation works", either, p.askWithBadKey)
	return steps
}

func (p *prober) requestUsage(seen *probedUsage) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		c, err := client.New(p.service)
		if err != nil {
			return "", err
		}
		usage, err := c.Usage(ctx)
		if err != nil {
			return p.passOver(err)
		}
		*seen = probedUsage{usage, true}
		return fmt.Sprintf("works: %q remaining", usage.Remaining), nil
	}
}

// passOver returns the text of an error that concerns one request only, and any other error unchanged.
func (p *prober) passOver(err error) (string, error) {
	var e *client.Error
	switch {
	case !errors.As(err, &e) || e.Status == 0:
		return "", err // the context has ended, or there was no response
	case e.Status == http.StatusTooManyRequests || e.Class == client.Quota:
		return "", err // every further request would get the same
	}
	return e.Error(), nil
}

// ask sends the input under some names, and returns the body of the answer. ok reports whether the service understood the input.
func (p *prober) ask(ctx context.Context, s *nameSearch, classification string, place client.ParamIn, names ...string) (body []byte, seen string, ok bool, err error) {
	o := p.service
	o.ParamIn = place
	c, err := client.New(o)
	if err != nil {
		return nil, "", false, err
	}
	answer, err := c.AskUnder(ctx, client.Request{Kind: s.kind, Input: s.input(), Classification: classification}, names...)
	if shape, ok := errors.AsType[*client.ShapeError](err); ok && p.keepPlace(shape.Member) {
		answer, err = shape.Found, nil
	}
	if err == nil {
		p.answered++
		p.transport.success = p.transport.status
		if len(answer.Entries) == 0 {
			p.assume("the %s operation gave an empty list for %q: the probe assumes that it understood the input", s.kind, s.input())
		}
		body = answer.Body
		seen = fmt.Sprintf("works: HTTP %d, %d entries", p.transport.status, len(answer.Entries))
		client.Release(&answer)
		return body, seen, true, nil
	}
	seen, err = p.passOver(err)
	if err == nil && p.transport.status == http.StatusAccepted {
		p.assume("the %s operation answered HTTP 202 (still calculating): the probe assumes that it works", s.kind)
		return nil, seen, true, nil
	}
	p.refused++
	s.status = p.transport.status
	return nil, seen, false, err
}

// keepPlace records the path of the entries in the first answer, and reports whether later answers have the same path. For a
// custom classification, the name in the path may differ.
func (p *prober) keepPlace(member string) bool {
	if member == "" {
		return false
	}
	if p.nested == "" {
		p.nested, p.service.Member = member, member
		return true
	}
	before, after, ok := strings.Cut(p.nested, client.ClassificationMark)
	name := strings.TrimSuffix(strings.TrimPrefix(member, before), after)
	if !ok || strings.Contains(name, ".") || before+name+after != member {
		return false
	}
	p.member = name
	return true
}

func (p *prober) askCustom(ctx context.Context) (string, error) {
	body, seen, ok, err := p.ask(ctx, &p.product, p.custom, p.product.place, p.product.found)
	if err != nil {
		return "", err
	}
	if p.member == "" {
		p.member = memberOf(body, p.custom)
	}
	if !ok || p.member == "" {
		p.assume("%s was not answered (%s): the probe assumes that the member of its answer has its name, or is the only list of entries", p.custom, seen)
		return seen, nil
	}
	return seen + " in the member " + p.member, nil
}

// askWithBadKey sends a wrong key. It is the last step, because the service may then ban the address.
func (p *prober) askWithBadKey(ctx context.Context) (string, error) {
	s := &p.website
	if !s.works() {
		s = &p.product
	}
	other := &prober{service: p.service, transport: newTransport(p.transport)}
	other.service.APIKey, other.service.Transport = probeBadKey, other.transport
	_, _, ok, err := other.ask(ctx, s, s.classification(), s.place, s.found)
	p.badKey = other.transport.status
	if err != nil && p.badKey == 0 {
		return "", err
	}
	if ok {
		p.assume("the service answers a wrong key like a valid one: bulkcat cannot tell that a key is wrong")
	}
	return fmt.Sprintf("HTTP %d", p.badKey), nil
}

func (p *prober) assume(format string, args ...any) {
	p.assumed = append(p.assumed, fmt.Sprintf(format, args...))
}

// finish returns the profile of the results so far.
func (p *prober) finish() Profile {
	p.website.eliminate(p)
	profile := Profile{
		Format: profileFormat, BaseURL: p.service.BaseURL,
		WebsiteParam: p.website.found, ProductParam: p.product.found,
		SuccessStatus: p.transport.success, BadKeyStatus: p.badKey, Member: p.service.Member, CustomMember: p.member,
		RateLimit: p.transport.limit, RateHeaders: slices.Sorted(maps.Keys(p.transport.headers)),
		Charges:  p.charges(),
		ProbedAt: time.Now().UTC().Truncate(time.Second),
	}
	switch {
	case p.website.works():
		profile.ParamIn = p.website.place
	case p.product.works():
		profile.ParamIn = p.product.place
	}
	if profile.RateLimit == 0 {
		p.assume("no response reported a rate limit: there may be one nevertheless")
	}
	profile.Assumed = p.assumed
	return profile
}

// charges returns whether the probe used the quota; nil if unknown.
func (p *prober) charges() *bool {
	before, isNumber := p.before.Requests()
	after, still := p.after.Requests()
	if !isNumber || !still || after > before {
		p.assume("usage did not report comparable numbers: the probe assumes that requests are charged")
		return nil
	}
	moved := before > after
	switch spent := before - after; {
	case !moved:
		p.assume("%d answers did not change the remaining quota: they are free, or counted later", p.answered)
	case spent > int64(p.answered):
		p.assume("%d answers and %d refusals used %d of the quota: the probe assumes that refusals are charged, too", p.answered, p.refused, spent)
	}
	return &moved
}
