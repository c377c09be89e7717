package embedded

import (
	"context"
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
	// percent-encoded throughout. It bounds the request line, too.
	maxHeaderBytes = 3*maxInput + 64<<10

	// maxInFlight keeps the memory in bounds: with a body and a page each, that
	// many requests hold some gigabytes at the very worst.
	maxInFlight = 1024
)

// ServerOptions say how a Service is offered to others.
type ServerOptions struct {
	// Addr is what the server listens on, host:port.
	Addr string
	// MaxInFlight is how many requests are answered at once; those beyond get
	// 503. Default 1024.
	MaxInFlight int
	// AccessLog gets a line at level Info for every request; nil is none.
	AccessLog *slog.Logger
}

// Server returns a server of s that is yet to be started. Beside the operations
// it has HealthPath, MetricsPath and OpenAPIPath, which need no key, and it gives
// every request an id.
func (s *Service) Server(o ServerOptions) *http.Server {
	// The clock of WriteTimeout starts before the body is read.
	writeTimeout := readTimeout + writeMargin
	if s.opts.Fetch != nil {
		writeTimeout += s.opts.Fetch.Timeout()
	}
	return &http.Server{
		Addr:              o.Addr,
		Handler:           newFront(s, o),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelWarn),
	}
}

// KeepUsage writes what the keys have used to the journal, once a second and at
// the end, when ctx is done. Failures are logged, and only the last one is
// returned: a service with a full disk still answers.
func (s *Service) KeepUsage(ctx context.Context) error {
	if s.opts.Journal == nil {
		return nil
	}
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return s.opts.Journal.save(s.accounts)
		case <-tick.C:
		}
		err := s.opts.Journal.save(s.accounts)
		switch {
		case err != nil && !failing:
			s.opts.Logger.Error("what the keys use is not saved; it is tried again every second", "error", err)
		case err == nil && failing:
			s.opts.Logger.Info("what the keys use is saved again")
		}
		failing = err != nil
	}
}
