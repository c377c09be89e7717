package nginx

import (
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/bulkcat/bulkcat/scripts/servers/authority"
)

// Config is what differs between the configurations of the cases. The zero value is a proxy
// with TLS and without limits.
type Config struct {
	Plain    bool            // HTTP/1.1 without TLS
	HTTP2    bool            // over TLS
	TLS      authority.Files // unless Plain
	HTTP     string          // directives of the block http, such as limit_req_zone
	Server   string          // directives of the block server
	Location string          // directives of the location that is proxied
}

const configName = "nginx.conf"

// The temporary folders and the pid are in the server's own folder. The workers run as the
// user of the test, because a worker of another user could not write there. The upstream's
// connections are kept open for long, so that only the client's side changes by case.
var configTemplate = template.Must(template.New(configName).Parse(`
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

func (s *Server) write() error {
	var text strings.Builder
	err := configTemplate.Execute(&text, struct {
		Config
		Root           bool
		Addr, Upstream string
	}{s.config, os.Getuid() == 0, s.Addr, s.upstream})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, configName), []byte(text.String()), 0o600)
}
