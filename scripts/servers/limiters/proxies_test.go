package limiters

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// A proxy is a program of Debian's packages. Its configuration is a text in which ADDR,
// UPSTREAM, UPSTREAM_PORT and DIR are replaced.
type proxy struct {
	program, packages string
	files             []string // that the packages must have
	env               string
	config            string
	args              func(config, addr string) []string
}

// start starts the proxy with more lines at the end of its configuration.
func (p proxy) start(lines string) start {
	return func(t *testing.T, s *clienttest.Endpoint) string {
		t.Helper()
		path := need(t, p.program, "Debian's packages "+p.packages)
		for _, file := range p.files {
			needFile(t, file, "Debian's packages "+p.packages)
		}
		return serve(t, func(port string) *exec.Cmd {
			cmd := exec.Command(path, p.args(p.write(t, port, s.Addr, lines), "127.0.0.1:"+port)...)
			cmd.Env = append(os.Environ(), p.env)
			return cmd
		})
	}
}

// write returns the path of the configuration. The proxy can write to its folder, also as the user
// that it changes to.
func (p proxy) write(t *testing.T, port, upstream, lines string) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	_, upstreamPort, _ := strings.Cut(upstream, ":")
	config := strings.NewReplacer(
		"ADDR", "127.0.0.1:"+port, "UPSTREAM_PORT", upstreamPort, "UPSTREAM", upstream, "DIR", dir,
	).Replace(p.config + lines + "\n")
	path := filepath.Join(dir, "config")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// apache has one process, because mod_evasive counts in each process by itself. It accepts more
// connections than bulkcat needs.
func apache(load, module, packages string) proxy {
	return proxy{
		program: "apache2", packages: packages,
		files: []string{"/usr/lib/apache2/modules/" + module},
		env:   "LD_PRELOAD=libpcre.so.3", // Debian 12 does not link mod_qos with this library
		args:  func(config, _ string) []string { return []string{"-D", "FOREGROUND", "-f", config} },
		config: `
ServerRoot /usr/lib/apache2
ServerName 127.0.0.1
Listen ADDR
PidFile DIR/pid
ErrorLog DIR/error.log
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule setenvif_module modules/mod_setenvif.so
LoadModule proxy_module modules/mod_proxy.so
LoadModule proxy_http_module modules/mod_proxy_http.so
LoadModule ` + load + ` modules/` + module + `
User nobody
Group nogroup
StartServers 1
ServerLimit 1
ThreadsPerChild 64
MaxRequestWorkers 64
AsyncRequestWorkerFactor 64
MaxKeepAliveRequests 0
KeepAliveTimeout 60
ProxyPass / http://UPSTREAM/
`,
	}
}

// evasive is Apache with mod_evasive: windows of a second by the clock, and a block that each
// request prolongs.
func evasive(directives string) start {
	return apache("evasive20_module", "mod_evasive20.so", "apache2 libapache2-mod-evasive").start(`
DOSPageInterval 1
DOSSiteInterval 1
DOSSiteCount 1000
DOSLogDir DIR
` + directives)
}

// qos is Apache with mod_qos, which refuses with 500 by default. It counts only categorizations.
func qos(directives string) start {
	return apache("qos_module", "mod_qos.so", "apache2 libapache2-mod-qos").start(`
QS_SemMemFile DIR
SetEnvIf Request_URI ^/api/v1/ QS_Limit=1
` + directives)
}

// varnish refuses where the arguments of vsthrottle say so. Its refusals state Retry-After: 5.
func varnish(arguments string) start {
	p := proxy{
		program: "varnishd", packages: "varnish varnish-modules",
		args: func(config, addr string) []string {
			return []string{"-F", "-f", config, "-n", filepath.Dir(config), "-a", addr, "-s", "malloc,16m"}
		},
		config: `vcl 4.1;
import vsthrottle;
backend service { .host = "127.0.0.1"; .port = "UPSTREAM_PORT"; }
`,
	}
	return p.start(`sub vcl_recv {
	if (req.url ~ "^/api/v1/" && vsthrottle.is_denied(req.http.x-api-key, ` + arguments + `)) {
		return (synth(429, "Too Many Requests"));
	}
	return (pass);
}`)
}

// squid refuses with 403 where its rules say so.
func squid(rules string) start {
	p := proxy{
		program: "squid", packages: "squid",
		args: func(config, _ string) []string { return []string{"-N", "-f", config} },
		config: `
http_port ADDR accel defaultsite=127.0.0.1
cache_peer 127.0.0.1 parent UPSTREAM_PORT 0 no-query no-digest originserver
never_direct allow all
cache deny all
access_log none
cache_log DIR/cache.log
coredump_dir DIR
netdb_filename none
pid_filename DIR/pid
pinger_enable off
shutdown_lifetime 0 seconds
`,
	}
	return p.start(rules)
}

// haproxy refuses with 429 when the rate of a client's requests in the window, refused ones
// included, is above the limit. It estimates a sliding window from two fixed ones.
func haproxy(window, limit string) start {
	p := proxy{
		program: "haproxy", packages: "haproxy",
		args: func(config, _ string) []string { return []string{"-db", "-f", config} },
		config: `
defaults
	mode http
	timeout connect 5s
	timeout client 60s
	timeout server 60s
backend service
	server service UPSTREAM
frontend api
	bind ADDR
	default_backend service
`,
	}
	return p.start(`	acl counted path_beg /api/v1/
	stick-table type string len 64 size 1k expire 10m store http_req_rate(` + window + `)
	http-request track-sc0 req.hdr(x-api-key) if counted
	http-request deny deny_status 429 if counted { sc_http_req_rate(0) gt ` + limit + ` }`)
}
