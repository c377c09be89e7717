package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// MaxProbeRequests bounds a probe, redirects included.
const MaxProbeRequests = 16

// ProbeOptions say what to probe.
type ProbeOptions struct {
	Options                         // of the service; the names and the place in them are tried first
	Custom  string                  // a custom classification to ask for, too; "" for none
	Observe func(ProbeStep, string) // told of each request that was made and what came of it; may be nil
}

// ProbeStep is one request of a probe.
type ProbeStep struct {
	Number    int    // from 1
	Operation string // usage, website or product
	Purpose   string
	If        string // what makes it necessary; "" where it always is
}

// ProbeError says that an operation does not work.
type ProbeError struct {
	Kind Kind
	Seen string // what came of the last attempt
}

func (e *ProbeError) Error() string {
	return fmt.Sprintf("the %s operation works with none of the names that were tried; seen last: %s", e.Kind, e.Seen)
}

// PlanProbe lists the requests that Probe may make, in order; there are no more than
// MaxProbeRequests. It makes none.
func PlanProbe(options ProbeOptions) []ProbeStep {
	var plan []ProbeStep
	for _, s := range newProber(options).steps() {
		plan = append(plan, s.ProbeStep)
	}
	return plan
}

// Probe finds out what the interface leaves open about a service. What it finds is worth
// having even with an error, which is a *ProbeError for each operation that does not
// work, or what ended the probe early.
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
		seen, err := s.make(ctx)
		if err != nil {
			return p.finish(), fmt.Errorf("the probe ended at its request %d, %s: %w", p.tap.made, s.Purpose, err)
		}
		if options.Observe != nil {
			options.Observe(s.ProbeStep, seen)
		}
	}
	profile := p.finish()
	return profile, errors.Join(p.website.failure(), p.product.failure())
}

// What is asked for: of every service's world.
const (
	probeWebsite = "https://www.wikipedia.org"
	probeProduct = "Cordless Drill 18V"
	probeBadKey  = "bulkcat-probe-wrong-key"
)

// The names that services are known to have for their inputs, the likeliest first.
var (
	websiteNames = []string{"url", "website", "domain", "query", "input"}
	productNames = []string{"query", "title", "product", "url", "text"}
)

// prober is a probe under way.
type prober struct {
	options       ProbeOptions
	tap           *tap
	website       nameSearch
	product       nameSearch
	before, after usageSeen
	answered      int // requests
	refused       int
	badKey        int // status
	member        string
	assumed       []string
}

type usageSeen struct {
	Usage
	ok bool
}

func newProber(options ProbeOptions) *prober {
	options.Options = options.withDefaults()
	if t, ok := options.Transport.(*http.Transport); ok {
		t = t.Clone()
		t.DisableKeepAlives = true // net/http repeats a request by itself when a kept connection breaks
		options.Transport = t
	}
	p := &prober{options: options, tap: &tap{next: options.Transport, headers: make(map[string]bool)}}
	p.options.Transport = p.tap
	p.website = newSearch(Website, options.ParamIn, options.WebsiteParam, websiteNames)
	p.product = newSearch(Product, options.ParamIn, options.ProductParam, productNames)
	return p
}

// probeStep is a step with what it takes to make it.
type probeStep struct {
	ProbeStep
	needed func() bool
	make   func(context.Context) (seen string, err error)
}

// steps lists every request there can be; each is made once at most. The website's name
// is looked for in all places by sending all names at once, and by halving those then;
// the product's in the place of the website's.
func (p *prober) steps() []probeStep {
	var steps []probeStep
	add := func(operation, purpose, condition string, needed func() bool, do func(context.Context) (string, error)) {
		steps = append(steps, probeStep{ProbeStep{len(steps) + 1, operation, purpose, condition}, needed, do})
	}
	always := func() bool { return true }
	add("usage", "what remains before, and whether the key is good", "", always, p.askUsage(&p.before))

	w := &p.website
	add("website", fmt.Sprintf("the input as %s in %s", w.names[0], placeName(w.place)), "", always, p.tryNext(w))
	for _, place := range placesFrom(w.place) {
		names := w.namesIn(place)
		add("website", fmt.Sprintf("as %s, all at once, in %s", joinNames(names), placeName(place)), "nothing has worked",
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
	add("usage", "what remains after", "usage works", func() bool { return p.before.ok }, p.askUsage(&p.after))
	either := func() bool { return w.works() || q.works() }
	add("website", "what a wrong key gets", "an operation works", either, p.askWithBadKey)
	return steps
}

// halvings is what is left for them: with a custom classification one less.
func (p *prober) halvings() int {
	if p.options.Custom != "" {
		return 3
	}
	return 4
}

func (p *prober) askUsage(seen *usageSeen) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		c, err := New(p.options.Options)
		if err != nil {
			return "", err
		}
		usage, err := c.Usage(ctx)
		if err != nil {
			return p.passOver(err)
		}
		*seen = usageSeen{usage, true}
		return fmt.Sprintf("works: %q remaining", usage.Remaining), nil
	}
}

// passOver gives the text of an error that says something about one request only.
func (p *prober) passOver(err error) (string, error) {
	var e *Error
	switch {
	case !errors.As(err, &e) || e.Status == 0:
		return "", err // the caller's end, or no conversation at all
	case e.Status == http.StatusTooManyRequests || e.Class == Quota:
		return "", err // every further request would meet the same
	}
	return e.Error(), nil
}

// ask asks under some names; ok says whether that was understood.
func (p *prober) ask(ctx context.Context, s *nameSearch, classification string, place ParamIn, names ...string) (answer Answer, seen string, ok bool, err error) {
	o := p.options.Options
	o.ParamIn = place
	c, err := New(o)
	if err != nil {
		return Answer{}, "", false, err
	}
	answer, err = c.categorize(ctx, Request{Kind: s.kind, Input: s.input(), Classification: classification}, names...)
	if err == nil {
		p.answered++
		p.tap.success = p.tap.status
		if len(answer.Entries) == 0 {
			p.assume("the %s operation gave an empty list for %q: it is taken to have understood the input", s.kind, s.input())
		}
		return answer, fmt.Sprintf("works: HTTP %d, %d entries", p.tap.status, len(answer.Entries)), true, nil
	}
	seen, err = p.passOver(err)
	if err == nil && p.tap.status == http.StatusAccepted {
		p.assume("HTTP 202 was answered, still calculating: the %s operation is taken to work", s.kind)
		return Answer{}, seen, true, nil
	}
	p.refused++
	return Answer{}, seen, false, err
}

func (p *prober) askCustom(ctx context.Context) (string, error) {
	answer, seen, ok, err := p.ask(ctx, &p.product, p.options.Custom, p.product.place, p.product.found)
	if err != nil {
		return "", err
	}
	if p.member = memberOf(answer.Body, p.options.Custom); !ok || p.member == "" {
		p.assume("%s was not answered (%s): the member of its answer is taken to have its name, or to be the only list of entries", p.options.Custom, seen)
		return seen, nil
	}
	return seen + " in the member " + p.member, nil
}

// askWithBadKey comes last: a wrong key may have the address banned for a while.
func (p *prober) askWithBadKey(ctx context.Context) (string, error) {
	s := &p.website
	if !s.works() {
		s = &p.product
	}
	impostor := &prober{options: p.options, tap: &tap{next: p.tap, headers: make(map[string]bool)}}
	impostor.options.APIKey, impostor.options.Transport = probeBadKey, impostor.tap
	_, _, ok, err := impostor.ask(ctx, s, s.classification(), s.place, s.found)
	p.badKey = impostor.tap.status
	if err != nil && p.badKey == 0 {
		return "", err
	}
	if ok {
		p.assume("a wrong key is answered like a right one: nothing will tell that a key is wrong")
	}
	return fmt.Sprintf("HTTP %d", p.badKey), nil
}

func (p *prober) assume(format string, args ...any) {
	p.assumed = append(p.assumed, fmt.Sprintf(format, args...))
}

// finish sums up.
func (p *prober) finish() Profile {
	p.website.eliminate(p)
	profile := Profile{
		Format: profileFormat, BaseURL: p.options.BaseURL,
		WebsiteParam: p.website.found, ProductParam: p.product.found,
		SuccessStatus: p.tap.success, BadKeyStatus: p.badKey, CustomMember: p.member,
		RateLimit: p.tap.limit, RateHeaders: p.tap.rateHeaders(),
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
		p.assume("no response told a rate limit: there may be one all the same")
	}
	profile.Assumed = p.assumed
	return profile
}

// charges compares what remained before and after.
func (p *prober) charges() *bool {
	before, isNumber := p.before.Requests()
	after, still := p.after.Requests()
	if !isNumber || !still || after > before {
		p.assume("what remains is not told in numbers that can be compared: requests are taken to be charged")
		return nil
	}
	moved := before > after
	switch spent := before - after; {
	case !moved:
		p.assume("%d answers did not move what remains: they are free, or counted later", p.answered)
	case spent > int64(p.answered):
		p.assume("%d answers and %d refusals moved what remains by %d: refusals are taken to be charged, too", p.answered, p.refused, spent)
	}
	return &moved
}
