package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client/embedded"
)

// serveFlags are the embedded service's own.
type serveFlags struct {
	addr       string
	apiKeyFile string
	fetch      fetchFlags
	grace      time.Duration
	log        logFlags
}

func newServe(s streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --api-key-file FILE",
		Short: "Serve the Categorization Service interface with the embedded service",
		Example: `  bulkcat serve --api-key-file keys.txt
  BULKCAT_BASE_URL=http://127.0.0.1:8080 BULKCAT_API_KEY=... bulkcat usage`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serve(cmd.Context(), s)
		},
	}
	addGroup(cmd, "Service", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.addr, "addr", "127.0.0.1:8080", "listen on `HOST:PORT`; port 0 takes a free one")
		flags.StringVar(&f.apiKeyFile, "api-key-file", "", "`FILE` of accepted API keys, one a line, each with an optional quota after it")
		f.fetch.bind(flags)
		flags.DurationVar(&f.grace, "grace", 20*time.Second, "for requests in flight once the service is stopped")
	})
	addGroup(cmd, "Run", f.log.bind)
	return cmd
}

// serve listens until the context ends, then lets requests in flight finish.
func (f *serveFlags) serve(ctx context.Context, s streams) error {
	if err := f.log.check(); err != nil {
		return &usageError{err}
	}
	keys, err := f.keys()
	if err != nil {
		return &usageError{err}
	}
	log := f.log.logger(s.err)
	service := embedded.New(embedded.Options{Keys: keys, Fetch: f.fetch.fetcher(log), Logger: log})
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", f.addr, err)
	}
	server := service.Server(f.addr)
	fmt.Fprintf(s.err, "bulkcat serves http://%s until it is interrupted\n", listener.Addr())
	return serveUntil(ctx, server, listener, f.grace)
}

// serveUntil serves until ctx ends, and then as long as requests are in flight, but no
// longer than the grace period.
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

func (f *serveFlags) keys() (map[string]embedded.Quota, error) {
	if f.apiKeyFile == "" {
		return nil, errors.New("no API keys: name a file of them with --api-key-file")
	}
	file, err := os.Open(f.apiKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--api-key-file: %w", err)
	}
	defer file.Close()
	keys, err := embedded.LoadKeys(file)
	if err != nil {
		return nil, fmt.Errorf("--api-key-file: %s: %w", f.apiKeyFile, err)
	}
	return keys, nil
}
