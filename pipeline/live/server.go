package live

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

//go:embed *.html page.css page.js
var files embed.FS

var pages = template.Must(figures.Templates().New("page.html").Funcs(template.FuncMap{
	"answers": func(s account.Status) int64 { return s.Records * int64(len(s.Details.Settings.Classifications())) },
	"day":     timeOfDay,
	"seconds": func(s float64) string { return figures.Duration(time.Duration(s * float64(time.Second))) },
	"zone":    func() string { return time.Now().Format("MST, UTC-07:00") },
}).ParseFS(files, "*.html"))

// style is the style sheet of the page.
var style = func() []byte {
	text, err := files.ReadFile("page.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return append([]byte(figures.Style), text...)
}()

// parts are the templates that change, and the ids of their elements.
var parts = []string{"state", "figures", "charts", "tables", "settings"}

// Source is a run or a service that the page shows. Its methods may be called from several goroutines.
type Source interface {
	View() View  // changes nothing
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

// event is what the open pages get each second.
type event struct {
	text []byte // "" before the first
	last bool
	next chan struct{} // closed when there is a newer one
}

// every is the time between events.
const every = time.Second

// Listen begins to serve on an address. Show sets the source; before that the page says that the run starts. Browsers and
// programs may ask under the host of the address.
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

// URL is the address of the page.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" }

// Show makes source the source of the page.
func (s *Server) Show(source Source) { s.source.Store(&source) }

func (s *Server) shown() Source { return *s.source.Load() }

// Watch sends events until stop is called.
func (s *Server) Watch() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			s.publish(false)
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-ended })
}

// Close sends the last event to all open pages, and stops serving. It waits for two seconds at most.
func (s *Server) Close() error {
	s.publish(true)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close() // a reader is slow
	}
	if served := <-s.failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// publish makes the event of the present view.
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
		fmt.Fprintf(&b, "<p>The page has an error: %s</p>", template.HTMLEscapeString(err.Error())) // the run goes on
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
		_, _ = w.Write(style) // the reader has gone
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
		_, _ = w.Write([]byte("ok\n")) // the reader has gone
	})
	return withSecurityHeaders(mux)
}

// forName refuses requests for other names of the machine than localhost and the host of the address, except healthPath,
// which reveals nothing. The owner of a name can let the name resolve to an address of this machine after a browser has loaded a page of that name (DNS
// rebinding), and the page can then read this server. IP addresses cannot be used in this way, and programs may leave
// out the name.
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

// canonical is the form of a host name in which names are compared.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

const healthPath = "/healthz"

// withSecurityHeaders sets the headers that keep a page from loading anything from elsewhere and from being embedded.
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

// View is the content of the page. Its figures and tables are those of Run or Service, in run.html and service.html.
type View struct {
	Title   string // of the page, such as the output of a run
	State   string // what happens, in words
	Since   time.Time
	Ended   bool // nothing changes any more
	Trouble bool // the state needs attention
	Charts  []figures.Chart

	Run     *account.Status // nil for a service, and before the run begins
	Service *reading        // nil for a run
	Started time.Time       // of the service
}
