package embedded

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// The paths of a server beside the operations.
const (
	HealthPath  = "/healthz"      // 200 while it listens
	MetricsPath = "/metrics"      // for Prometheus
	OpenAPIPath = "/openapi.json" // describes the operations
)

// front is a Service as others see it: with request ids, an access log, metrics,
// a bound on what is in flight, and pages for those who run it.
type front struct {
	service  *Service
	limit    int64        // of inFlight
	inFlight atomic.Int64 // categorizations and usages; pages are always answered
	log      *slog.Logger // nil for none
	ids      *requestIDs
	metrics  *metrics
	pages    map[string]http.Handler // by path
}

func newFront(s *Service, o ServerOptions) *front {
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = maxInFlight
	}
	f := &front{service: s, limit: int64(o.MaxInFlight), log: o.AccessLog, ids: newRequestIDs()}
	f.metrics = newMetrics(s.accounts, &f.inFlight)
	f.pages = map[string]http.Handler{
		HealthPath:  jsonPage(`{"status":"ok"}`),
		MetricsPath: f.metrics.handler(),
		OpenAPIPath: jsonPage(s.openAPI()),
	}
	return f
}

// ServeHTTP answers one request and takes note of it.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := f.ids.of(r)
	w.Header()[requestIDHeader] = []string{id}
	o := f.answer(w, r)
	took := time.Since(start)
	f.metrics.observe(o, took)
	if f.log != nil && f.log.Enabled(r.Context(), slog.LevelInfo) {
		f.logRequest(r, id, o, took)
	}
}

func (f *front) answer(w http.ResponseWriter, r *http.Request) outcome {
	if page, ok := f.pages[r.URL.Path]; ok {
		return f.answerPage(w, r, page)
	}
	n := f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	if n > f.limit {
		return f.refuse(w, r, tooBusy())
	}
	return f.service.serve(w, r)
}

var getOrHead = []string{http.MethodGet, http.MethodHead}

func (f *front) answerPage(w http.ResponseWriter, r *http.Request, page http.Handler) outcome {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", strings.Join(getOrHead, ", "))
		return f.refuse(w, r, wrongMethod(getOrHead))
	}
	counted := &countingWriter{ResponseWriter: w, status: http.StatusOK}
	page.ServeHTTP(counted, r)
	return outcome{status: counted.status, bytes: counted.bytes}
}

// refuse answers with a problem without asking the service.
func (f *front) refuse(w http.ResponseWriter, r *http.Request, problem *apiError) outcome {
	var o outcome
	if op, ok := f.service.operations[r.URL.Path]; ok {
		o.operation = op.name
	}
	f.service.send(w, r, nil, problem, &o)
	return o
}

// maxLoggedPath bounds what a stranger can write to the log with one request.
const maxLoggedPath = 256

// logRequest tells of a request, but neither its key nor its input.
func (f *front) logRequest(r *http.Request, id string, o outcome, took time.Duration) {
	key := ""
	if o.account != nil {
		key = o.account.name
	}
	f.log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", r.Method),
		slog.String("path", r.URL.Path[:min(len(r.URL.Path), maxLoggedPath)]),
		slog.Int("status", o.status),
		slog.Int("bytes", o.bytes),
		slog.Float64("duration_ms", float64(took.Microseconds())/1e3), // a Duration is told in ns or with a unit, by the format
		slog.String("key", key),
		slog.String("request_id", id),
		slog.String("remote", r.RemoteAddr),
	)
}

// countingWriter takes note of what a page's handler answers.
type countingWriter struct {
	http.ResponseWriter
	status int
	bytes  int
}

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += n
	return n, err
}

// jsonPage always answers the same.
func jsonPage(body string) http.Handler {
	length := strconv.Itoa(len(body))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		_, _ = w.Write([]byte(body)) // a client that went away has no use for it
	})
}
