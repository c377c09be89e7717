package embedded

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// The paths of the operations.
const (
	UsagePath   = "/api/usage"
	WebsitePath = "/api/v1/website/categorization"
	ProductPath = "/api/v1/product/categorization"
)

// CostHeader is the response header that says what an answer has cost: CostPage
// or CostNone.
const (
	CostHeader = "X-Bulkcat-Cost"
	CostPage   = "page" // a page was fetched for it
	CostNone   = "none" // it can be computed again at any time
)

// keyHeader is x-api-key as net/http spells it.
const keyHeader = "X-Api-Key"

// Options says how the service answers. The zero value serves everyone, and
// fetches nothing.
type Options struct {
	// Keys are the accepted API keys with their quotas. If there are none, and
	// no Grants, no key is needed.
	Keys map[string]Quota
	// Grants are accepted API keys with more to them than a quota.
	Grants []Grant
	// Journal keeps what the keys have used; nil forgets it with the Service.
	Journal *Journal
	// Fetch gets the pages of websites and products; nil is never.
	Fetch *page.Fetcher
	// Custom are further classifications of products, each served under its
	// taxonomy's name, product_taxonomy_custom_NAME by the interface.
	Custom []*taxonomy.Taxonomy
	// WebsiteParam is the name of the website operation's input. Default "url".
	WebsiteParam string
	// ProductParam is the name of the product operation's input. Default "query".
	ProductParam string
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

func (o Options) applyDefaults() Options {
	if o.WebsiteParam == "" {
		o.WebsiteParam = "url"
	}
	if o.ProductParam == "" {
		o.ProductParam = "query"
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Service is an http.Handler that answers the three operations. It is safe for
// concurrent use.
type Service struct {
	opts       Options
	accounts   accounts
	anyone     *account              // of requests without a key, where none is needed
	operations map[string]*operation // by path
}

// operation is one path of the interface.
type operation struct {
	name            string
	input           string // the input's parameter; "" for usage
	classifications []*classification
	standard        string // the classification of a request without one; "" if it is required
	judge           func(context.Context, *classification, string) (judgement, *apiError)
}

// New returns a Service. Its engines are built when first needed; see WarmUp.
func New(opts Options) *Service {
	opts = opts.applyDefaults()
	s := &Service{opts: opts, accounts: newAccounts(opts), anyone: anyone()}
	s.operations = map[string]*operation{
		UsagePath: {name: "usage"},
		WebsitePath: {
			name:            "website",
			input:           opts.WebsiteParam,
			classifications: []*classification{taxonomyV3(), naics()},
			judge:           s.judgeWebsite,
		},
		ProductPath: {
			name:            "product",
			input:           opts.ProductParam,
			classifications: append([]*classification{productTaxonomy()}, customs(opts.Custom)...),
			standard:        productTaxonomyName,
			judge:           s.judgeProduct,
		},
	}
	return s
}

// WarmUp builds the engines now, so that no request waits for one.
func (s *Service) WarmUp() {
	for _, op := range s.operations {
		for _, c := range op.classifications {
			c.engine()
		}
	}
}

// buffers holds the bodies of answers while they are written.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r) }

// outcome is what became of a request, for those who keep count.
type outcome struct {
	operation string   // "" if it names none
	account   *account // nil if its key was not accepted, or not looked at
	status    int
	bytes     int // of the body
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request) outcome {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	var o outcome
	body, problem := s.answer((*buffer)[:0], w, r, &o)
	*buffer = s.send(w, r, body, problem, &o) // grown, perhaps
	return o
}

// send sends an answer, or the problem in its place, and gives the buffer back.
func (s *Service) send(w http.ResponseWriter, r *http.Request, body []byte, problem *apiError, o *outcome) []byte {
	h := w.Header()
	o.status = http.StatusOK
	if problem != nil {
		o.status, body = problem.Status, problem.append(body[:0], h.Get(requestIDHeader))
		if problem.Wait > 0 {
			h.Set("Retry-After", problem.retryAfter())
		}
	}
	o.bytes = len(body)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(o.status)
	if _, err := w.Write(body); err != nil {
		s.opts.Logger.Debug("an answer was not delivered", "path", r.URL.Path, "error", err)
	}
	return body
}

// answer appends the body of a successful answer to b, and sets its headers.
func (s *Service) answer(b []byte, w http.ResponseWriter, r *http.Request, o *outcome) ([]byte, *apiError) {
	op, ok := s.operations[r.URL.Path]
	if !ok {
		return b, noOperation()
	}
	o.operation = op.name
	if allow := op.methods(); !slices.Contains(allow, r.Method) {
		w.Header().Set("Allow", strings.Join(allow, ", "))
		return b, wrongMethod(allow)
	}
	if o.account, ok = s.account(r.Header.Get(keyHeader)); !ok {
		return b, wrongKey()
	}
	if op.input == "" {
		return o.account.appendUsage(b), nil
	}
	if problem := o.account.limit.admit(w.Header()); problem != nil {
		return b, problem
	}
	return op.answer(b, w, r, o.account)
}

// account returns the account of a key, and whether there is one.
func (s *Service) account(key string) (*account, bool) {
	if len(s.accounts) == 0 {
		return s.anyone, true
	}
	a, ok := s.accounts[digestOf(key)]
	return a, ok
}

var (
	getOnly   = []string{http.MethodGet}
	getOrPost = []string{http.MethodGet, http.MethodPost}
)

func (op *operation) methods() []string {
	if op.input == "" {
		return getOnly
	}
	return getOrPost
}

// patience is how long an answer may take. Pages of a host are fetched one after the
// other: a catalog of one shop makes a long queue, whose end no client waits for, and
// which would fill the server.
const patience = 25 * time.Second

// answer categorizes one input on an account.
func (op *operation) answer(b []byte, w http.ResponseWriter, r *http.Request, acct *account) ([]byte, *apiError) {
	params, problem := readParams(w, r, op.input)
	if problem != nil {
		return b, problem
	}
	c, problem := op.classification(params.classification)
	if problem != nil {
		return b, problem
	}
	if acct.isUsedUp() {
		return b, noQuota()
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	j, problem := op.judge(ctx, c, params.input)
	if problem != nil {
		return b, problem
	}
	// Without its caller, or beyond our patience, a fetch fails, and the
	// judgement is worth less than the caller would take it for.
	switch {
	case r.Context().Err() != nil:
		return b, canceled()
	case ctx.Err() != nil:
		return b, crowded()
	}
	if !acct.take() {
		return b, noQuota()
	}
	w.Header().Set(CostHeader, j.cost)
	return c.append(b, j), nil
}

// classification finds the named classification.
func (op *operation) classification(name string) (*classification, *apiError) {
	if name == "" {
		name = op.standard
	}
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
