package embedded

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The limits of a server whose clients may be slow on purpose.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second // a body is half a megabyte at most
	idleTimeout       = 2 * time.Minute
	writeMargin       = 30 * time.Second

	// maxHeaderBytes limits the request line and the header. It is enough for a query with the
	// longest input, percent-encoded throughout.
	maxHeaderBytes = 3*maxInput + 64<<10

	// maxInFlight limits the memory: with a body and a page each, so many requests take some
	// gigabytes at worst.
	maxInFlight = 1024
)

// ServerOptions are the options of [Service.Server].
type ServerOptions struct {
	// Addr is the address to listen on, host:port.
	Addr string
	// MaxInFlight is the most categorizations at once. A key takes four fifths of them at most. Others wait for ten
	// seconds, the keys in turn by their priorities, and then get the status 503, as requests of a key of which as many
	// wait as its share.
	// Default 1024.
	MaxInFlight int
	// AccessLog gets a line at level Info for every request; nil for no log.
	AccessLog *slog.Logger
	// Metrics gets the metrics of the service; nil for a registry of its own.
	Metrics *prometheus.Registry
}

// Server returns a server of s that the caller starts. In addition to the operations it has
// HealthPath, ReadyPath, MetricsPath and OpenAPIPath, which need no key, and every request gets an id.
func (s *Service) Server(o ServerOptions) *http.Server {
	// WriteTimeout includes the time to read the body.
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

// Charge charges the keys for reserved answers, a key once for each time that it is in the list, and calls commit with the
// notes that keep what these keys have used, so that answers and charges become durable together. The notes belong in the
// store of the ledger; without a ledger there are none. The error is that of commit.
func (s *Service) Charge(keys []*Key, commit func(notes map[string][]byte) error) error {
	if s.opts.Ledger == nil {
		chargeAll(keys)
		return commit(nil)
	}
	return s.opts.Ledger.charge(keys, commit)
}

// KeepUsage saves the used quota to the ledger once a second, and for the last time when ctx is
// done. It logs failures and returns only the failure of the last save: a service with a full
// disk still answers. Without a ledger it does nothing.
func (s *Service) KeepUsage(ctx context.Context) error {
	if s.opts.Ledger == nil {
		return nil
	}
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return s.opts.Ledger.save(s.keys.all())
		case <-tick.C:
		}
		err := s.opts.Ledger.save(s.keys.all())
		switch {
		case err != nil && !failing:
			s.opts.Logger.Error("the used quota is not saved; saving is retried every second", "error", err)
		case err == nil && failing:
			s.opts.Logger.Info("the used quota is saved again")
		}
		failing = err != nil
	}
}
