package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client/embedded/page"
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
	// MaxInFlight is the most categorizations in flight, of which one key takes at most four fifths. Default 1024. Further
	// requests wait for up to ten seconds, in the order of their keys' priorities, and then get the status 503. A request gets
	// 503 at once if as many requests of its key wait as the key's share of MaxInFlight.
	MaxInFlight int
	// AccessLog gets a line at level Info for every request; nil for no log.
	AccessLog *slog.Logger
	// Metrics gets the metrics of the service, and the server has no MetricsPath: the caller shows them. nil for a registry
	// that MetricsPath shows.
	Metrics *prometheus.Registry
}

// Server returns a server of s, for the caller to start. It also has HealthPath, ReadyPath, MetricsPath and OpenAPIPath, which
// need no key, and gives every request an id.
func (s *Service) Server(o ServerOptions) *http.Server {
	// WriteTimeout includes the time to read the body.
	writeTimeout := readTimeout + writeMargin
	if s.opts.Fetch != nil {
		writeTimeout += page.Limit
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

// Charge charges one reserved answer for each element of keys, and calls commit with the changed notes of the ledger. commit
// stores the notes in the ledger's store together with the answers: both or neither become durable. Without a ledger, notes is
// nil. The error comes from commit.
func (s *Service) Charge(keys []*Key, commit func(notes map[string][]byte) error) error {
	if s.opts.Ledger == nil {
		chargeAll(keys)
		return commit(nil)
	}
	return s.opts.Ledger.charge(keys, commit)
}

// KeepUsage saves the used quota to the ledger every second, and for the last time when ctx ends. It returns the error of the
// last save, and logs other errors: a service with a full disk still answers. Without a ledger it does nothing.
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

// Serve answers on a listener until ctx ends. Then requests in flight have the grace period to end. Serve saves the used quota as
// KeepUsage does, for the last time after the last answer. The error comes from the listener or from saving.
func (s *Service) Serve(ctx context.Context, listener net.Listener, options ServerOptions, grace time.Duration) error {
	saving, served := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error {
		defer served()
		return serveUntil(ctx, s.Server(options), listener, grace)
	})
	g.Go(func() error { return s.KeepUsage(saving) })
	if s.opts.Backend == nil {
		g.Go(func() error {
			s.WarmUp()
			return nil
		})
	}
	return g.Wait()
}

func serveUntil(ctx context.Context, server *http.Server, listener net.Listener, grace time.Duration) error {
	g, failed := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
		}
		return nil
	})
	g.Go(func() error {
		<-failed.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if server.Shutdown(drain) != nil {
			return server.Close()
		}
		return nil
	})
	return g.Wait()
}
