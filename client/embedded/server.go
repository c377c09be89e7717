package embedded

import (
	"log/slog"
	"net/http"
	"time"
)

// The limits of a server in the open, where clients may be slow on purpose.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second // a body is half a megabyte at most
	idleTimeout       = 2 * time.Minute
	writeMargin       = 30 * time.Second

	// maxHeaderBytes holds a query whose input is as long as allowed and
	// percent-encoded throughout.
	maxHeaderBytes = 3*maxInput + 64<<10
)

// Server returns a server of s for the address, host:port, that is yet to be
// started.
func (s *Service) Server(addr string) *http.Server {
	// The clock of WriteTimeout starts before the body is read.
	writeTimeout := readTimeout + writeMargin
	if s.opts.Fetch != nil {
		writeTimeout += s.opts.Fetch.Timeout()
	}
	return &http.Server{
		Addr:              addr,
		Handler:           s,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelWarn),
	}
}
