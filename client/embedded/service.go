package embedded

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/client/internal/fair"
	"github.com/bulkcat/bulkcat/client/internal/wire"
)

// The paths of the operations.
const (
	UsagePath   = "/api/usage"
	WebsitePath = "/api/v1/website/categorization"
	ProductPath = "/api/v1/product/categorization"
)

// CostHeader is the response header of an answer's cost: CostPage or CostNone.
const (
	CostHeader = "X-Bulkcat-Cost"
	CostPage   = "page" // the service has fetched a page
	CostNone   = "none" // the answer can be computed again at any time
)

// keyHeader is x-api-key as net/http spells it.
const keyHeader = "X-Api-Key"

// Options are the options of a Service. The zero value needs no key and fetches no pages.
type Options struct {
	// Grants are the accepted API keys with quotas, rates, plans and names. Without Grants no key is needed.
	Grants []Grant
	// Ledger keeps the used quota; nil keeps it only in memory.
	Ledger *Ledger
	// Fetch fetches the pages of websites and products; nil for no pages.
	Fetch *page.Fetcher
	// Custom are more classifications of products. Each has the name of its taxonomy, by convention
	// product_taxonomy_custom_NAME.
	Custom []*taxonomy.Custom
	// Editions replace default editions.
	Editions taxonomy.Choice
	// Models answer in their classifications and editions, in place of the engine alone. A model of a custom taxonomy needs the
	// taxonomy in Custom.
	Models []*learn.Model
	// WebsiteParam is the name of the website operation's input. Default "url".
	WebsiteParam string
	// ProductParam is the name of the product operation's input. Default "query".
	ProductParam string
	// Plan is the plan of keys without a plan of their own. Default "embedded".
	Plan string
	// Backend answers the categorizations; nil for the taxonomies of this package.
	Backend Backend
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

func (o Options) applyDefaults() Options {
	o.WebsiteParam = cmp.Or(o.WebsiteParam, "url")
	o.ProductParam = cmp.Or(o.ProductParam, "query")
	o.Plan = cmp.Or(o.Plan, "embedded")
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

// Service is an http.Handler of the three operations. It is safe for concurrent use.
type Service struct {
	opts       Options
	keys       *keyring
	anonymous  *Key                  // the key of all requests if no key is needed
	operations map[string]*operation // by path
}

// operation is one path of the interface.
type operation struct {
	name            string
	input           string // the name of the input's parameter; "" for usage
	classifications []*classification
	standard        string                                                      // the default classification; "" if requests must name one
	read            func(ctx context.Context, input string) (prediction, error) // without the matches
}

// New returns a Service. It builds its engines when they are first needed; see [Service.WarmUp].
func New(opts Options) *Service {
	opts = opts.applyDefaults()
	editions := slices.Concat(editionsOf(opts.Models), opts.Editions)
	anyone := newAPIKey(Grant{Name: "anyone", Quota: Unlimited, Plan: opts.Plan})
	s := &Service{opts: opts, keys: newKeyring(opts), anonymous: anyone}
	s.operations = map[string]*operation{
		UsagePath: {name: "usage"},
		WebsitePath: {
			name:            "website",
			input:           opts.WebsiteParam,
			classifications: published(client.Website, editions),
			read:            s.readWebsite,
		},
		ProductPath: {
			name:            "product",
			input:           opts.ProductParam,
			classifications: append(published(client.Product, editions), customs(opts.Custom)...),
			standard:        client.ProductTaxonomy,
			read:            s.readProduct,
		},
	}
	for _, op := range s.operations {
		for _, c := range op.classifications {
			c.model = modelOf(opts.Models, c.name)
		}
	}
	return s
}

// WarmUp builds all engines: no later request waits for an engine.
func (s *Service) WarmUp() {
	for _, op := range s.operations {
		for _, c := range op.classifications {
			c.engine()
		}
	}
}

// buffers are the buffers of answers' bodies.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil) }

// access is a request as the metrics and the access log see it.
type access struct {
	operation string // "" for no operation
	key       *Key   // nil if the key was not accepted or not checked
	status    int
	bytes     int // of the body

	places  *fair.Places
	release func() // releases a Backend's body; nil for other bodies
}

// serve answers a request. A categorization takes one of the places, unless places is nil.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, places *fair.Places) access {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	o := access{places: places}
	body, err := s.answer((*buffer)[:0], w, r, &o)
	sent := s.send(w, r, body, err, &o)
	if o.release != nil {
		o.release()
	} else {
		*buffer = sent // append may have allocated a larger buffer
	}
	return o
}

// send sends an answer or an error. It returns the buffer of the body.
func (s *Service) send(w http.ResponseWriter, r *http.Request, body []byte, err error, o *access) []byte {
	h := w.Header()
	o.status = http.StatusOK
	if err != nil {
		e := errorOf(err)
		o.status, body = e.Status, appendError(body[:0], e, h.Get(requestIDHeader))
		if e.RetryAfter > 0 {
			h.Set("Retry-After", retryAfter(e.RetryAfter))
		}
	}
	o.bytes = len(body)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(o.status)
	if r.Method == http.MethodHead {
		return body
	}
	if err := deliver(w, body); err != nil {
		s.opts.Logger.Debug("an answer was not delivered", "path", logged(r.URL.Path), "error", err)
	}
	return body
}

const (
	deliverStep = 64 << 10         // bytes
	stepTimeout = 10 * time.Second // a client that reads less than deliverStep in this time is cut off
)

// deliver writes a body. It ends early if the client stops reading a long body, which takes memory.
func deliver(w http.ResponseWriter, body []byte) error {
	control := http.NewResponseController(w)
	for len(body) > deliverStep {
		_ = control.SetWriteDeadline(time.Now().Add(stepTimeout)) // a writer without deadlines is in process, and never stalls
		if _, err := w.Write(body[:deliverStep]); err != nil {
			return err
		}
		body = body[deliverStep:]
	}
	_, err := w.Write(body)
	return err
}

// answer appends the body of a successful answer to b, and sets its headers.
func (s *Service) answer(b []byte, w http.ResponseWriter, r *http.Request, o *access) ([]byte, error) {
	if s.opts.Backend != nil {
		w.Header().Set(wire.GatewayHeader, "1")
	}
	op, ok := s.operations[r.URL.Path]
	if !ok {
		return b, noOperation
	}
	o.operation = op.name
	if allow := op.methods(); !slices.Contains(allow, r.Method) {
		w.Header().Set("Allow", strings.Join(allow, ", "))
		return b, wrongMethod(allow)
	}
	if o.key, ok = s.key(r.Header.Get(keyHeader)); !ok {
		return b, wrongKey
	}
	if op.input == "" {
		c := s.condition()
		if c.Err != nil && c.Err.Class != client.Quota {
			return b, c.Err
		}
		return o.key.appendUsage(b, c.Left), nil
	}
	if s.opts.Backend == nil {
		if wait, ok := o.key.Admit(w.Header()); !ok {
			return b, tooFast(wait)
		}
	}
	r = r.WithContext(fair.WithAccount(r.Context(), o.key))
	if o.places != nil {
		leave, err := place(r.Context(), o.places)
		if err != nil {
			return b, err
		}
		defer leave()
	}
	params, err := readParams(w, r, op)
	if err != nil {
		return b, err
	}
	if s.opts.Backend != nil {
		return s.forward(b, w, r, op, params, o)
	}
	return op.answer(r.Context(), b, w.Header(), params, o.key)
}

// placePatience is the longest wait for a place, shorter than the timeout of clients.
const placePatience = 10 * time.Second

// place takes a place for a request of a key.
func place(ctx context.Context, places *fair.Places) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, placePatience)
	defer cancel()
	leave, err = places.Take(waiting)
	switch {
	case err == nil:
		return leave, nil
	case ctx.Err() != nil:
		return nil, canceled
	}
	return nil, tooBusy
}

// condition returns the state of the backend. Without a backend, the service is always up.
func (s *Service) condition() Condition {
	if s.opts.Backend == nil {
		return Condition{State: "up", Left: Unlimited}
	}
	return s.opts.Backend.Condition()
}

// SetGrants replaces the accepted API keys. A key that stays keeps its used quota. Requests in flight continue. If the Service
// was made without Grants, it still needs no key.
func (s *Service) SetGrants(grants []Grant) { s.keys.set(grants) }

// key looks up an API key; false if it is not accepted.
func (s *Service) key(key string) (*Key, bool) {
	if s.keys.open {
		return s.anonymous, true
	}
	k, ok := (*s.keys.accepted.Load())[s.keys.salt.digest(key)]
	return k, ok
}

var (
	getOrHead = []string{http.MethodGet, http.MethodHead} // RFC 9110 §9.3.2
	getOrPost = []string{http.MethodGet, http.MethodPost} // not HEAD, which would be charged without an answer
)

func (op *operation) methods() []string {
	if op.input == "" {
		return getOrHead
	}
	return getOrPost
}

// patience is the time limit of an answer. The pages of a host are fetched one after the other. Without a limit, requests for a
// shop's whole catalog would fill the server after their clients have given up.
const patience = 25 * time.Second

// answer categorizes one input and charges a key.
func (op *operation) answer(ctx context.Context, b []byte, h http.Header, p params, key *Key) ([]byte, error) {
	c, err := op.classification(p.classification)
	if err != nil {
		return b, err
	}
	if key.left() == 0 {
		return b, noQuota(key.Refill())
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	j, err := op.read(limited, p.input)
	if err != nil {
		return b, err
	}
	j.matches = c.matches(j.Input)
	// If the fetch was canceled or has timed out, the answer lacks the page, and is worse.
	switch {
	case ctx.Err() != nil:
		return b, canceled
	case limited.Err() != nil:
		return b, crowded
	}
	if !j.local && !key.take() {
		return b, noQuota(key.Refill())
	}
	h.Set(CostHeader, j.cost)
	return c.append(b, j), nil
}

func (op *operation) classification(name string) (*classification, error) {
	name = cmp.Or(name, op.standard)
	if name == "" {
		return nil, missing("classification")
	}
	for _, c := range op.classifications {
		if c.name == name {
			return c, nil
		}
	}
	return nil, noClassification(name, op.classifications)
}
