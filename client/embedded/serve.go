package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// Serve answers on a listener until ctx ends. Then requests in flight have the grace period to end. Serve saves the used quota
// as KeepUsage does, for the last time after the last answer. The error is one of the listener or of saving.
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
