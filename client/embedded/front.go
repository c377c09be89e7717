package embedded

import (
	"crypto/rand"
	_ "embed" // the description
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/fair"
)

// The paths of a Server in addition to the operations.
const (
	HealthPath  = "/healthz"      // 200 and the state while the server listens
	ReadyPath   = "/readyz"       // 200 while new requests are answered, else 503; and the state
	MetricsPath = "/metrics"      // for Prometheus
	OpenAPIPath = "/openapi.json" // describes the operations
)

// front is the handler of a Server. It adds request ids, an access log, metrics, a limit of requests in flight, and pages for
// operators to a Service.
type front struct {
	service  *Service
	places   *fair.Places // of categorizations
	inFlight atomic.Int64 // requests to operations
	log      *slog.Logger // nil for none
	metrics  *metrics
	pages    map[string]http.Handler // by path
}

func newFront(s *Service, o ServerOptions) *front {
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = maxInFlight
	}
	f := &front{service: s, places: fair.NewPlaces(o.MaxInFlight, true), log: o.AccessLog}
	f.metrics = newMetrics(s, o.Metrics, &f.inFlight, f.places)
	f.pages = map[string]http.Handler{
		HealthPath:  jsonPage(func() (string, int) { return s.condition().page(), http.StatusOK }),
		ReadyPath:   jsonPage(s.ready),
		OpenAPIPath: jsonPage(sync.OnceValues(func() (string, int) { return s.openAPI(), http.StatusOK })),
	}
	if o.Metrics == nil {
		f.pages[MetricsPath] = f.metrics.handler()
	}
	return f
}

// ServeHTTP answers one request, counts it and logs it.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := requestID(r)
	w.Header()[requestIDHeader] = []string{id}
	o := f.answer(w, r)
	took := time.Since(start)
	f.metrics.observe(o, took)
	if f.log != nil && f.log.Enabled(r.Context(), slog.LevelInfo) {
		f.logRequest(r, id, o, took)
	}
}

func (f *front) answer(w http.ResponseWriter, r *http.Request) access {
	if page, ok := f.pages[r.URL.Path]; ok {
		return f.answerPage(w, r, page)
	}
	f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	return f.service.serve(w, r, f.places)
}

func (f *front) answerPage(w http.ResponseWriter, r *http.Request, page http.Handler) access {
	if !slices.Contains(getOrHead, r.Method) {
		w.Header().Set("Allow", strings.Join(getOrHead, ", "))
		var refused access
		f.service.send(w, r, nil, wrongMethod(getOrHead), &refused)
		return refused
	}
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	sent, _ := w.Write(answer.Body.Bytes()) // fails if the client has gone
	return access{status: answer.Code, bytes: sent}
}

// page is the body of HealthPath and of ReadyPath.
func (c Condition) page() string { return `{"status":"` + c.State + `"}` }

// ready is the body and the status of ReadyPath.
func (s *Service) ready() (body string, status int) {
	c := s.condition()
	if c.Err != nil {
		return c.page(), http.StatusServiceUnavailable
	}
	return c.page(), http.StatusOK
}

// maxLogged is the most bytes of a field in the log: clients may send a path or a method of any length.
const maxLogged = 256

func logged(text string) string { return text[:min(len(text), maxLogged)] }

// logRequest logs a request without its key and its input.
func (f *front) logRequest(r *http.Request, id string, o access, took time.Duration) {
	key := ""
	if o.key != nil {
		key = o.key.Name()
	}
	f.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", logged(r.Method)),
		slog.String("path", logged(r.URL.Path)),
		slog.Int("status", o.status),
		slog.Int("bytes", o.bytes),
		slog.Float64("duration_ms", float64(took.Microseconds())/1e3), // slog's text and JSON formats write a Duration in different units
		slog.String("key", logged(key)),
		slog.String("request_id", logged(id)),
		slog.String("remote", logged(r.RemoteAddr)),
	)
}

// jsonPage answers with the body and the status that content returns.
func jsonPage(content func() (string, int)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body, status := content()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // fails if the client has gone
	})
}

// requestIDHeader is X-Request-ID as net/http spells it. A client may set the id of its request. The response and the log have
// the same id.
const requestIDHeader = "X-Request-Id"

// maxRequestID is the most bytes of an id; a W3C traceparent has 55.
const maxRequestID = 128

// requestID returns the request's own id if it can be logged unquoted, or else a new id.
func requestID(r *http.Request) string {
	if id := r.Header.Get(requestIDHeader); isRequestID(id) {
		return id
	}
	return strings.ToLower(rand.Text())
}

func isRequestID(id string) bool { return isPlain(id, "._:/+=@-", maxRequestID) }

// isPlain reports whether a text has 1 to most bytes, all of them ASCII letters, digits or marks.
func isPlain(text, marks string, most int) bool {
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(marks, c))
	})
}

// openAPIText is the description of the operations, with placeholders for the input parameters.
//
//go:embed openapi.json
var openAPIText string

// openAPI returns the description with the input parameters of this Service.
func (s *Service) openAPI() string {
	return strings.NewReplacer(
		`"WEBSITE_PARAM"`, string(marshal(s.opts.WebsiteParam)),
		`"PRODUCT_PARAM"`, string(marshal(s.opts.ProductParam)),
	).Replace(openAPIText)
}
