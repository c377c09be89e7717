package live

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/pipeline/repeat"
)

//go:embed *.html page.js
var files embed.FS

//go:embed page.css
var pageStyle string

var pages = template.Must(figures.Templates().New("page.html").Funcs(template.FuncMap{
	"answers": func(s account.Status) int64 { return s.Records * int64(len(s.Details.Settings.Classifications())) },
	"day":     timeOfDay,
	"seconds": func(s float64) string { return figures.Duration(time.Duration(s * float64(time.Second))) },
	"top":     topCategories,
	"zone":    func() string { return time.Now().Format("MST, UTC-07:00") },
}).ParseFS(files, "*.html"))

// parts are the names of the templates that events update, and the ids of their elements.
var parts = []string{"state", "figures", "charts", "tables", "settings"}

// Source is a run or a service that the page shows. Its methods may be called from several goroutines.
type Source interface {
	View() View  // does not change the source
	Sample()     // adds the present state to the history that View shows
	Status() any // for JSON
	Metrics() prometheus.Gatherer
}

// Server serves the page of a source.
type Server struct {
	listener net.Listener
	http     *http.Server
	failed   chan error
	source   atomic.Pointer[Source]
	newest   atomic.Pointer[event]
}

// event is a message to all open pages. They get an event each second.
type event struct {
	text []byte // "" before the first event
	last bool
	next chan struct{} // closed when there is a newer event
}

// every is the time between events.
const every = time.Second

// Listen begins to serve on an address. Before Show sets the source, the page says that the run is starting. Requests may name
// the host of addr: see forName.
func Listen(addr string) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	s := &Server{listener: listener, failed: make(chan error, 1)}
	s.http = &http.Server{Handler: forName(addr, s.routes()), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	s.Show(starting{})
	s.newest.Store(&event{next: make(chan struct{})})
	go func() { s.failed <- s.http.Serve(listener) }()
	return s, nil
}

// URL returns the URL of the page.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" }

// Show makes source the source of the page.
func (s *Server) Show(source Source) { s.source.Store(&source) }

func (s *Server) shown() Source { return *s.source.Load() }

// Watch sends events until stop is called.
func (s *Server) Watch() (stop func()) {
	s.publish(false)
	return repeat.Every(every, func() { s.publish(false) })
}

// Close sends the last event to all open pages, and stops serving. It waits for at most two seconds.
func (s *Server) Close() error {
	s.publish(true)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close() // a client is slow
	}
	if served := <-s.failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// publish makes an event of the present view.
func (s *Server) publish(last bool) {
	source := s.shown()
	source.Sample()
	view := source.View()
	message := struct {
		Title string            `json:"title"`
		Ended bool              `json:"ended"`
		Parts map[string]string `json:"parts"`
	}{view.Title + " - bulkcat", view.Ended, make(map[string]string)}
	for _, name := range parts {
		message.Parts[name] = string(render(name, view))
	}
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // a struct of strings
	}
	close(s.newest.Swap(&event{text, last, make(chan struct{})}).next)
}

func render(name string, view View) []byte {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, view); err != nil {
		fmt.Fprintf(&b, "<p>The page has an error: %s</p>", template.HTMLEscapeString(err.Error())) // does not end the run
	}
	return b.Bytes()
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(render("page.html", s.shown().View())) // the reader has gone
	})
	mux.HandleFunc("GET /page.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = io.WriteString(w, figures.Style+pageStyle) // the reader has gone
	})
	mux.Handle("GET /page.js", http.FileServerFS(files))
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		_ = e.Encode(s.shown().Status()) // the reader has gone
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		promhttp.HandlerFor(s.shown().Metrics(), promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
	})
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok\n") // the reader has gone
	})
	return withSecurityHeaders(mux)
}

// forName refuses requests whose Host is a name other than localhost and the host of addr, except for healthPath, which reveals
// nothing. Otherwise a page of an attacker could read this server: after a browser has loaded the page, the attacker lets the
// name of the page resolve to an address of this machine (DNS rebinding). IP addresses cannot be used in this way. Programs may
// leave out the Host.
func forName(addr string, next http.Handler) http.Handler {
	allowed := map[string]bool{"localhost": true}
	if host, _, err := net.SplitHostPort(addr); err == nil {
		allowed[canonical(host)] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		_, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil && host != "" && !allowed[canonical(host)] && r.URL.Path != healthPath {
			http.Error(w, "This page is not served under this name: ask for the IP address, or name the host in --listen.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// canonical returns the form of a host name for comparisons.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

const healthPath = "/healthz"

// withSecurityHeaders sets headers that forbid the page to load anything from other servers, and other pages to embed the page.
func withSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// events sends the newest event, and then each new event.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead { // the events have no end
		return
	}
	control := http.NewResponseController(w)
	for {
		e := s.newest.Load()
		if len(e.text) > 0 {
			if err := control.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
				return
			}
			if _, err := fmt.Fprintf(w, "data: %s\n\n", e.text); err != nil || control.Flush() != nil || e.last {
				return
			}
		}
		select {
		case <-e.next:
		case <-r.Context().Done():
			return
		}
	}
}

// starting is the source before a run has begun.
type starting struct{}

func (starting) Sample()                      {}
func (starting) View() View                   { return View{Title: "bulkcat", State: "starting"} }
func (starting) Status() any                  { return map[string]string{"state": "starting"} }
func (starting) Metrics() prometheus.Gatherer { return prometheus.NewRegistry() }

// View is the content of the page. run.html shows the figures and tables of Run, service.html those of Service.
type View struct {
	Title   string // of the page, such as the output of a run
	State   string // the state in words
	Since   time.Time
	Ended   bool // the view no longer changes
	Trouble bool // the state needs attention
	Charts  []figures.Chart

	Run     *account.Status // nil for a service, and before the run begins
	Service *reading        // nil for a run
	Started time.Time       // of the service
}
