package main

import (
	"context"
	"log/slog"

	"github.com/bulkcat/bulkcat/client/embedded"
)

// hearReloads turns SIGHUP into a wish to read the API keys again, until leave is called. A terminal that closes sends
// SIGHUP, too, and then ends a service that was started in it.
func hearReloads(s streams) (reloads <-chan struct{}, leave func()) {
	wished := make(chan struct{}, 1)
	inTerminal := s.err.IsTerminal()
	leave = s.signals.handle(signalHandlers{reloading: func() bool {
		if inTerminal && !s.err.IsTerminal() {
			return false
		}
		select {
		case wished <- struct{}{}:
		default: // the keys are read after this signal anyway
		}
		return true
	}})
	return wished, leave
}

// keepKeys reads the API keys and the certificate again at every signal until the end function is called. Keys that cannot be
// read stay as they are, and so does a certificate.
func (f *serveFlags) keepKeys(ctx context.Context, reloads <-chan struct{}, set func([]embedded.Grant), log *slog.Logger) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-reloads:
			}
			if err := f.tls.load(); err != nil {
				log.Error("the certificate stays as it is, because the files cannot be used", "error", err)
			} else if c := f.tls.certificate.Load(); c != nil {
				log.Info("the certificate was read again", "file", f.tls.certFile, "valid_until", c.Leaf.NotAfter)
			}
			grants, err := f.grants(ctx)
			if err != nil {
				log.Error("the API keys stay as they are, because the file cannot be used", "error", err)
				continue
			}
			set(grants)
			log.Info("the API keys were read again", "file", f.apiKeyFile, "keys", len(grants))
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
