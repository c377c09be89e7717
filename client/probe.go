package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// maxProbeRequests is the most requests that a probe sends, redirects included.
const maxProbeRequests = 16

// ProbeOptions describe a probe.
type ProbeOptions struct {
	Options                         // the service; the probe tries its names and place first
	Custom  string                  // a custom classification to probe; "" for none
	Observe func(ProbeStep, string) // called after each request with its result in words; may be nil
}

// ProbeStep is one request of a probe.
type ProbeStep struct {
	Number    int    // from 1
	Operation string // "usage", "website" or "product"
	Purpose   string // what the request finds out
	If        string // condition under which the request is sent; "" for always
}

// probeError says that an operation works with none of the names that a probe tried.
type probeError struct {
	Kind   Kind
	Seen   string // result of the last attempt, in words
	Status int    // HTTP status of the last attempt; 0 if there was no response
}

// Error returns the kind and the last result.
func (e *probeError) Error() string {
	return fmt.Sprintf("the %s operation works with none of the names that were tried; the last result was: %s", e.Kind, e.Seen)
}

// OptionName returns "client.APIKey" if the service refused the key; "" otherwise.
func (e *probeError) OptionName() string {
	if classOf(e.Status) == Auth {
		return "client.APIKey"
	}
	return ""
}

// PlanProbe returns the requests that Probe may send, in order. It sends none.
func PlanProbe(options ProbeOptions) []ProbeStep {
	var plan []ProbeStep
	for _, s := range newProber(options).steps() {
		plan = append(plan, s.ProbeStep)
	}
	return plan
}

// Probe finds the properties of a service that the interface leaves open. It sends at most 16 requests, each
// within Options.Timeout. The profile has the results so far even if the error is not nil. The error names
// each operation that does not work, or is the error that ended the probe early.
func Probe(ctx context.Context, options ProbeOptions) (Profile, error) {
	c, err := New(options.Options)
	if err != nil {
		return Profile{}, err
	}
	options.BaseURL = c.Source()
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
			options.Observe(s.ProbeStep, seen)
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

// prober is the state of a probe.
type prober struct {
	options       ProbeOptions
	transport     *probeTransport
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
	Usage
	ok bool
}

func newProber(options ProbeOptions) *prober {
	options.Options = options.withDefaults()
	if t, ok := options.Transport.(*http.Transport); ok {
		t = t.Clone()
		t.DisableKeepAlives = true // net/http repeats a request when a kept connection breaks
		options.Transport = t
	}
	p := &prober{options: options, transport: newProbeTransport(options.Transport)}
	p.options.Transport = p.transport
	p.website = newSearch(Website, options.ParamIn, options.WebsiteParam, websiteNames)
	p.product = newSearch(Product, options.ParamIn, options.ProductParam, productNames)
	return p
}

// probeStep is a ProbeStep that can be executed.
type probeStep struct {
	ProbeStep
	needed func() bool
	send   func(context.Context) (seen string, err error)
}

// steps returns every request that the probe may send. Each is sent at most once. To find the name of the website's input, the
// probe sends all names at once in each place, and then half of the names at a time. It looks for the product's name in the
// same place.
func (p *prober) steps() []probeStep {
	var steps []probeStep
	add := func(operation, purpose, condition string, needed func() bool, do func(context.Context) (string, error)) {
		steps = append(steps, probeStep{ProbeStep{len(steps) + 1, operation, purpose, condition}, needed, do})
	}
	always := func() bool { return true }
	add("usage", "the remaining quota before the probe, and whether the key is valid", "", always, p.requestUsage(&p.before))

	w := &p.website
	add("website", fmt.Sprintf("the input as %s in %s", w.names[0], placeName(w.place)), "", always, p.tryNext(w))
	for _, place := range placesFrom(w.place) {
		names := w.namesIn(place)
		add("website", fmt.Sprintf("as %s, all at once, in %s", joinNames(names), placeName(place)), "no request has worked",
			func() bool { return w.open() && !w.known }, p.tryTogether(w, place))
	}
	for range p.halvings() {
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
	if p.options.Custom != "" {
		add("product", "the member of "+p.options.Custom, "a product works", q.works, p.askCustom)
	}
	add("usage", "the remaining quota after the probe", "usage works", func() bool { return p.before.ok }, p.requestUsage(&p.after))
	either := func() bool { return w.works() || q.works() }
	add("website", "the response to a wrong key", "an operation works", either, p.askWithBadKey)
	return steps
}

// halvings returns the number of requests that halve the names: 4, or 3 if a custom classification needs a request.
func (p *prober) halvings() int {
	if p.options.Custom != "" {
		return 3
	}
	return 4
}

func (p *prober) requestUsage(seen *probedUsage) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		c, err := New(p.options.Options)
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
	var e *Error
	switch {
	case !errors.As(err, &e) || e.Status == 0:
		return "", err // the context has ended, or there was no response
	case e.Status == http.StatusTooManyRequests || e.Class == Quota:
		return "", err // every further request would get the same
	}
	return e.Error(), nil
}

// ask sends the input under some names; ok reports whether the service understood it.
func (p *prober) ask(ctx context.Context, s *nameSearch, classification string, place ParamIn, names ...string) (answer Answer, seen string, ok bool, err error) {
	o := p.options.Options
	o.ParamIn = place
	c, err := New(o)
	if err != nil {
		return Answer{}, "", false, err
	}
	answer, err = c.categorize(ctx, Request{Kind: s.kind, Input: s.input(), Classification: classification}, names...)
	if shape, ok := errors.AsType[*ShapeError](err); ok && p.keepPlace(shape.Member) {
		answer, err = shape.found, nil
	}
	if err == nil {
		p.answered++
		p.transport.success = p.transport.status
		if len(answer.Entries) == 0 {
			p.assume("the %s operation gave an empty list for %q: the probe assumes that it understood the input", s.kind, s.input())
		}
		return answer, fmt.Sprintf("works: HTTP %d, %d entries", p.transport.status, len(answer.Entries)), true, nil
	}
	seen, err = p.passOver(err)
	if err == nil && p.transport.status == http.StatusAccepted {
		p.assume("the %s operation answered HTTP 202 (still calculating): the probe assumes that it works", s.kind)
		return Answer{}, seen, true, nil
	}
	p.refused++
	s.status = p.transport.status
	return Answer{}, seen, false, err
}

// keepPlace records the path of the entries in the first answer, and reports whether later answers have the same path. A custom
// classification may have another name in it.
func (p *prober) keepPlace(member string) bool {
	if member == "" {
		return false
	}
	if p.nested == "" {
		p.nested, p.options.Member = member, member
		return true
	}
	before, after, ok := strings.Cut(p.nested, classificationMark)
	name := strings.TrimSuffix(strings.TrimPrefix(member, before), after)
	if !ok || strings.Contains(name, ".") || before+name+after != member {
		return false
	}
	p.member = name
	return true
}

func (p *prober) askCustom(ctx context.Context) (string, error) {
	answer, seen, ok, err := p.ask(ctx, &p.product, p.options.Custom, p.product.place, p.product.found)
	if err != nil {
		return "", err
	}
	if p.member == "" {
		p.member = memberOf(answer.Body, p.options.Custom)
	}
	if !ok || p.member == "" {
		p.assume("%s was not answered (%s): the probe assumes that the member of its answer has its name, or is the only list of entries", p.options.Custom, seen)
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
	other := &prober{options: p.options, transport: newProbeTransport(p.transport)}
	other.options.APIKey, other.options.Transport = probeBadKey, other.transport
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
		Format: profileFormat, BaseURL: p.options.BaseURL,
		WebsiteParam: p.website.found, ProductParam: p.product.found,
		SuccessStatus: p.transport.success, BadKeyStatus: p.badKey, Member: p.options.Member, CustomMember: p.member,
		RateLimit: p.transport.limit, RateHeaders: p.transport.rateHeaders(),
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
