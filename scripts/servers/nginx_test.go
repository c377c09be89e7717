package servers

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	"github.com/bulkcat/bulkcat/scripts/process"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// nginxServer is a running nginx: the program of the system, in a folder of its own.
type nginxServer struct {
	Addr string // HOST:PORT

	dir      string
	binary   string
	config   nginxConfig
	upstream string
	process  *process.Process
}

// startNginx runs nginx in front of the upstream HOST:PORT until the test ends. Where nginx is not
// installed the test is skipped; where the environment has CI the test fails.
func startNginx(t testing.TB, dir, upstream string, config nginxConfig) *nginxServer {
	t.Helper()
	s := &nginxServer{Addr: run.FreeAddr(t), dir: dir, binary: findNginx(t), config: config, upstream: upstream}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("nginx: %v", err)
		}
	})
	return s
}

func findNginx(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("nginx is not installed: apt-get install nginx-light")
	}
	t.Skip("nginx is not installed: apt-get install nginx-light")
	return ""
}

// URL is the base URL of the server.
func (s *nginxServer) URL() string {
	if s.config.Plain {
		return "http://" + s.Addr
	}
	return "https://" + s.Addr
}

// Start writes the configuration, runs nginx, and waits until nginx accepts connections.
func (s *nginxServer) Start() error {
	if err := s.write(); err != nil {
		return err
	}
	cmd := exec.Command(s.binary, "-p", s.dir, "-e", "error.log", "-c", filepath.Join(s.dir, nginxConfName), "-g", "daemon off;")
	var err error
	if s.process, err = process.Start(context.Background(), cmd, filepath.Join(s.dir, "error.log")); err != nil {
		return err
	}
	return s.process.Ready(process.Listening(s.Addr))
}

// Reload changes the configuration. Old workers finish their requests, and new ones take
// over.
func (s *nginxServer) Reload(change func(*nginxConfig)) error {
	change(&s.config)
	if err := s.write(); err != nil {
		return err
	}
	return s.process.Signal(syscall.SIGHUP)
}

// Stop ends nginx with SIGTERM, which drops open requests.
func (s *nginxServer) Stop() error { return s.process.Stop(syscall.SIGTERM) }

// nginxConfig is what differs between the configurations of the cases. The zero value is a proxy
// with TLS and without limits.
type nginxConfig struct {
	Plain    bool           // HTTP/1.1 without TLS
	HTTP2    bool           // over TLS
	TLS      authorityFiles // unless Plain
	HTTP     string         // directives of the block http, such as limit_req_zone
	Server   string         // directives of the block server
	Location string         // directives of the location that is proxied
}

const nginxConfName = "nginx.conf"

// The temporary folders and the pid are in the server's own folder. The workers run as the
// user of the test, because a worker of another user could not write there. The upstream's
// connections are kept open for long, so that only the client's side changes by case.
var nginxTemplate = template.Must(template.New(nginxConfName).Parse(`
{{if .Root}}user root;{{end}}
worker_processes 1;
pid nginx.pid;
error_log error.log warn;
events { worker_connections 8192; }
http {
	log_format arrivals '$msec $request_time $status $request_uri';
	access_log access.log arrivals;
	client_body_temp_path client_body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	{{.HTTP}}
	upstream service {
		server {{.Upstream}};
		keepalive 1024;
		keepalive_requests 1000000;
	}
	server {
		listen {{.Addr}}{{if not .Plain}} ssl{{end}}{{if .HTTP2}} http2{{end}} backlog=4096;
		{{if not .Plain}}
		ssl_certificate {{.TLS.Cert}};
		ssl_certificate_key {{.TLS.Key}};
		{{end}}
		{{.Server}}
		location / {
			proxy_pass http://service;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			{{.Location}}
		}
	}
}
`))

func (s *nginxServer) write() error {
	var text strings.Builder
	err := nginxTemplate.Execute(&text, struct {
		nginxConfig
		Root           bool
		Addr, Upstream string
	}{s.config, os.Getuid() == 0, s.Addr, s.upstream})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, nginxConfName), []byte(text.String()), 0o600)
}

// nginxRequest is one request for a categorization, as the access log has it.
type nginxRequest struct {
	Arrived time.Time // when nginx read the request, by nginx's clock of milliseconds
	Ended   time.Time
	Status  int
	Input   string
}

// Requests reads the access log. The requests are in the order of their arrival.
func (s *nginxServer) Requests(t testing.TB) []nginxRequest {
	t.Helper()
	file, err := os.Open(filepath.Join(s.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var requests []nginxRequest
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		request, err := parseArrival(lines.Text())
		if err != nil {
			t.Fatalf("access.log: %v", err)
		}
		if request.Input != "" {
			requests = append(requests, request)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(requests, func(a, b nginxRequest) int { return a.Arrived.Compare(b.Arrived) })
	return requests
}

// parseArrival parses a line of the log format arrivals. A request without an input is not for a
// categorization.
func parseArrival(line string) (nginxRequest, error) {
	var request nginxRequest
	var ended, took float64
	var uri string
	if _, err := fmt.Sscan(line, &ended, &took, &request.Status, &uri); err != nil {
		return request, fmt.Errorf("%q: %w", line, err)
	}
	request.Ended, request.Arrived = unixTime(ended), unixTime(ended-took)
	_, query, _ := strings.Cut(uri, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return request, fmt.Errorf("%q: %w", line, err)
	}
	request.Input = values.Get("url")
	return request, nil
}

// unixTime converts nginx's seconds since 1970 to a time.
func unixTime(seconds float64) time.Time {
	return time.UnixMilli(int64(math.Round(seconds * 1000)))
}

func TestParseArrival(t *testing.T) {
	got, err := parseArrival("1700000000.500 0.125 429 /api/v1/website/categorization?url=https%3A%2F%2Fa.example&classification=taxonomy_v3")
	want := nginxRequest{
		Arrived: time.UnixMilli(1700000000375), Ended: time.UnixMilli(1700000000500), Status: 429, Input: "https://a.example",
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v, not %+v", got, err, want)
	}
}
