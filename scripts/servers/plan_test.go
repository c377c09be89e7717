package servers

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/servers/network"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// A plan is one run of bulkcat with its servers and its targets.
type plan struct {
	records     int
	prefix      string // of the inputs; "" for r
	service     clienttest.Options
	nginx       *nginxConfig // nil: bulkcat asks the service itself
	flags       []string
	descriptors int // the limit of bulkcat's open files; 0 for the system's

	// upstream starts another service in place of the audited one, and returns its HOST:PORT.
	upstream func(*testing.T, *stage) string

	// front puts another server before the service or nginx, and returns its base URL and
	// the file of its certificate authority, if it has one.
	front func(*testing.T, *stage) (baseURL, caFile string)
	// during acts on the servers while bulkcat runs; it must return when stop is closed.
	during func(s *stage, stop <-chan struct{}) error

	ideal, atMost time.Duration // atMost also sets the deadline; 0 for no target
	warnings      int           // at most
	refused       float64       // share at most, after the first 10 seconds
	exit          int
	unpublished   bool                                    // the run stops early and writes no output
	failing       func(input string) bool                 // records that must have the status failed; nil for none
	lost          func(s *stage, v clienttest.Visit) bool // answers that cannot have reached bulkcat; nil for none
}

// stage has the servers that a plan has started.
type stage struct {
	dir     string
	tls     authorityFiles
	service *clienttest.Endpoint
	nginx   *nginxServer   // nil for none
	network *network.Proxy // nil for none
	caddy   *caddyServer   // nil for none
	begun   time.Time      // when bulkcat was started
	cuts    []interval     // the intervals in which connections were dropped
}

type interval struct{ from, to time.Time }

// result is the result of a plan's run with the servers' logs.
type result struct {
	run.Result
	stage    *stage
	arrivals []arrival
}

// perform carries out a plan, fills the report's line and compares the result with the
// targets.
func perform(t *testing.T, row *line, p plan) result {
	t.Helper()
	s := newStage(t, p)
	bulkcat := p.start(t, s)
	stop, acted := make(chan struct{}), make(chan error, 1)
	go func() {
		if p.during == nil {
			acted <- nil
			return
		}
		acted <- p.during(s, stop)
	}()
	ended := bulkcat.Wait(t)
	close(stop)
	if err := <-acted; err != nil {
		t.Fatalf("acting on the servers: %v", err)
	}
	o := result{Result: ended, stage: s, arrivals: arrivals(t, s)}
	p.compare(t, row, o)
	return o
}

// start runs bulkcat in a folder of its own.
func (p plan) start(t *testing.T, s *stage) *run.Run {
	t.Helper()
	baseURL, caFile := s.address(t, p)
	s.begun = time.Now()
	return run.Start(t, run.Options{
		Binary: binary, Dir: t.TempDir(), BaseURL: baseURL, CAFile: caFile,
		Inputs: p.inputs(), Flags: p.flags, Descriptors: p.descriptors,
		Deadline: p.deadline(),
	})
}

func (p plan) inputs() []string { return run.Inputs(cmp.Or(p.prefix, "r"), p.records) }

// deadline is later than the target, so that the report shows how late a run was.
func (p plan) deadline() time.Duration {
	if p.atMost == 0 {
		return 2 * time.Minute
	}
	return p.atMost*3/2 + 10*time.Second
}

func newStage(t *testing.T, p plan) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir()}
	s.tls = newAuthority(t, s.dir)
	s.service = run.Service(t, p.service)
	upstream := s.service.Addr
	if p.upstream != nil {
		upstream = p.upstream(t, s)
	}
	if p.nginx == nil {
		return s
	}
	config := *p.nginx
	config.TLS = s.tls
	dir := filepath.Join(s.dir, "nginx")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.nginx = startNginx(t, dir, upstream, config)
	return s
}

// address returns the base URL and the file of the certificate authority for bulkcat.
func (s *stage) address(t *testing.T, p plan) (baseURL, caFile string) {
	t.Helper()
	switch {
	case p.front != nil:
		return p.front(t, s)
	case s.nginx == nil:
		return s.service.URL(), ""
	case p.nginx.Plain:
		return s.nginx.URL(), ""
	}
	return s.nginx.URL(), s.tls.CA
}

// arrival is a request for a categorization, as the server next to bulkcat has seen it.
type arrival struct {
	at, ended time.Time
	status    int
	input     string
}

func (a arrival) refused() bool {
	return a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable
}

func arrivals(t *testing.T, s *stage) []arrival {
	t.Helper()
	var all []arrival
	if s.nginx != nil {
		for _, request := range s.nginx.Requests(t) {
			all = append(all, arrival{request.Arrived, request.Ended, request.Status, request.Input})
		}
		return all
	}
	for _, visit := range s.service.Visits() {
		all = append(all, arrival{visit.Arrived, visit.Left, visit.Status, visit.Input})
	}
	return all
}

// at waits until d has passed since bulkcat was started; false when the run ends before.
func (s *stage) at(d time.Duration, stop <-chan struct{}) bool {
	select {
	case <-time.After(time.Until(s.begun.Add(d))):
		return true
	case <-stop:
		return false
	}
}

// every calls act in an interval until the run ends.
func (s *stage) every(d time.Duration, stop <-chan struct{}, act func() error) error {
	for n := time.Duration(1); s.at(n*d, stop); n++ {
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

// cut calls down, waits, and calls up. Answers on their way meanwhile are lost.
func (s *stage) cut(down func() error, wait time.Duration, up func() error) error {
	from := time.Now()
	if err := down(); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	time.Sleep(wait)
	s.cuts = append(s.cuts, interval{from, time.Now()})
	if err := up(); err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	return nil
}
