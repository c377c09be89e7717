package service

import (
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
)

// serveHTTP2 answers with the server of net/http, which ends connections on which the
// client has not agreed to HTTP/2.
func serveHTTP2(l net.Listener, options Options) error {
	server := &http.Server{
		Handler:   handler{options},
		Protocols: new(http.Protocols),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{options.Certificate}},
	}
	server.Protocols.SetHTTP2(true)
	return server.ServeTLS(l, "", "") // the certificate is in TLSConfig
}

// handler answers the requests of all connections.
type handler struct{ options Options }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, status := h.options.appendBody(nil, r.URL.Path, r.URL.RawQuery)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client knows what it has received
}
