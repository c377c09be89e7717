package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/probe"
	"github.com/bulkcat/bulkcat/pipeline/live"
	"github.com/bulkcat/bulkcat/pipeline/places"
)

// serveFlags are the flags of `serve`.
type serveFlags struct {
	addr        string
	tls         tlsFlags
	apiKeyFile  string
	state       string
	fetch       fetchFlags
	maxInFlight int
	maxConns    int
	accessLog   bool
	grace       time.Duration
	taxonomies  customFlags
	log         logFlags
	listen      listenFlags
	gateway     gatewayFlags
}

// memoryOfConnection is the memory of a connection with a waiting request, in bytes: stacks and buffers took 42,000. With the
// limit of a run, the collector would take most of the time of a gateway with 3,500 such connections.
const memoryOfConnection = 64 << 10

func newServe(s streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --api-key-file FILE",
		Short: "Serve the Categorization Service interface with the embedded service",
		Long: `bulkcat serve serves the embedded service over HTTP. Each line of the file of API keys is
a key and its limits; all but the key is optional:

  KEY quota=100000 rate=50/s burst=100 in-flight=20 plan=team name=alice

Logs and metrics show the name, never the key. With --state a restart keeps the used quota.
On SIGHUP the file is read again: a key whose line is gone is refused from then on.

With --upstream it is a gateway: it answers from the store, and asks the hosted service for
the rest, with the key in BULKCAT_API_KEY. The quotas of the keys count paid answers, and the
store keeps what they have used.

Requests that have to wait are answered in turn by key; priority=2 gives a key twice the share
of others.

/healthz, /readyz (503 while no new request is answered), /metrics (Prometheus) and
/openapi.json need no key: do not expose them to the internet. With --listen /metrics is at that
address alone.`,
		Example: `  bulkcat serve --api-key-file keys.txt --state used.db --access-log
  BULKCAT_BASE_URL=http://127.0.0.1:8080 BULKCAT_API_KEY=... bulkcat usage
  BULKCAT_API_KEY=... bulkcat serve --upstream https://api.example.com --store answers.db --api-key-file keys.txt`,
		Args: operands(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("max-in-flight") && f.gateway.upstream != "" {
				f.maxInFlight = gatewayInFlight
			}
			return f.serve(cmd.Context(), s)
		},
	}
	addGroup(cmd, "Service", []option{
		{name: "addr", to: &f.addr, or: "127.0.0.1:8080", help: "listen on `HOST:PORT`; port 0 takes a free one"},
		{name: "api-key-file", to: &f.apiKeyFile, help: "`FILE` of accepted API keys, one a line, with quota= or cost= (both also of a /day, /week or /month), zone=, rate=, burst=, in-flight=, priority=, plan= and name= after it"},
		{name: "state", to: &f.state, help: "keep the used quota of the keys in `FILE`; a crash loses at most one second of usage. Without FILE a restart loses all. A gateway keeps it in its store, and loses none"},
	}, f.tls.options(), f.fetch.options(), f.taxonomies.options(), f.taxonomies.editionOptions())
	addGroup(cmd, "Limits", []option{
		{name: "max-in-flight", to: &f.maxInFlight, or: 1024, check: atLeast(&f.maxInFlight, 1), help: "answer `N` categorizations at once, of a key four fifths at most; further requests wait for 10 s, the keys in turn, and then get 503. A gateway, whose requests mostly wait, answers 16384"},
		{name: "max-connections", to: &f.maxConns, or: 8192, check: atLeast(&f.maxConns, 1), help: "keep `N` connections open; further connections wait"},
		{name: "grace", to: &f.grace, or: 20 * time.Second, help: "time for requests in flight after the service is stopped"},
	})
	f.gateway.price.flags = cmd.Flags()
	addGroup(cmd, "Gateway", f.gateway.options())
	addGroup(cmd, "Run", []option{
		{name: "access-log", to: &f.accessLog, help: "log every request"},
	}, f.log.options())
	addGroup(cmd, "Page", f.listen.options())
	return cmd
}

// serve listens until the context ends, then lets requests in flight finish.
func (f *serveFlags) serve(ctx context.Context, s streams) (err error) {
	if f.addr, err = addressOf(f.addr); err != nil {
		return &usageError{fmt.Errorf("--addr: %w", err)}
	}
	if err := f.gateway.check(f.taxonomies, f.state); err != nil {
		return &usageError{err}
	}
	outlivePipes()
	reloads, leave := hearReloads(s)
	defer leave()
	grants, err := f.grants(ctx)
	if err = errors.Join(err, f.tls.load()); err != nil {
		return &usageError{err}
	}
	log := f.log.logger(s.err)
	if err := f.taxonomies.load(log); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", f.addr, err)
	}
	defer listener.Close() // unless the server has closed it
	options := embedded.ServerOptions{Addr: f.addr, MaxInFlight: f.maxInFlight}
	if f.accessLog {
		options.AccessLog = log
	}
	if err := f.listen.open(s.err, "service"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.listen.close()) }()
	title := "bulkcat serve " + listener.Addr().String()
	if upstream, err := url.Parse(f.gateway.upstream); err == nil && upstream.Host != "" {
		title = "gateway " + listener.Addr().String() + " to " + upstream.Host
	}
	if f.listen.server != nil {
		options.Metrics = prometheus.NewRegistry()
	}
	defer f.listen.show(live.NewService(title, options.Metrics))()
	limitMemory(memoryLimit + int64(f.maxConns)*memoryOfConnection)
	limited, scheme := f.tls.over(netutil.LimitListener(listener, f.maxConns), log)
	if f.gateway.upstream != "" {
		return f.serveGateway(ctx, s, limited, scheme, options, grants, reloads, log)
	}
	ledger, closeState, err := f.openState()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeState()) }()
	own := f.taxonomies.service(&f.fetch, log)
	own.Grants, own.Ledger = grants, ledger
	service := embedded.New(own)
	defer f.keepKeys(ctx, reloads, service.SetGrants, log)()
	fmt.Fprintf(s.err, "bulkcat serves %s://%s until it is interrupted\n", scheme, listener.Addr())
	return service.Serve(ctx, limited, options, f.grace)
}

// openState opens the file of used quota; the ledger is nil without a file.
func (f *serveFlags) openState() (ledger *embedded.Ledger, end func() error, err error) {
	if f.state == "" {
		return nil, func() error { return nil }, nil
	}
	if err := places.Protect(answers.Files(f.state), append(f.taxonomies.files(), f.apiKeyFile)); err != nil {
		return nil, nil, &usageError{fmt.Errorf("--state: %w", err)}
	}
	notes, err := answers.OpenNotes(answers.Options{Path: f.state})
	if err != nil {
		return nil, nil, stateError(err)
	}
	if ledger, err = embedded.OpenLedger(notes); err != nil {
		return nil, nil, stateError(errors.Join(err, notes.Close()))
	}
	return ledger, notes.Close, nil
}

// stateError names the flag, for an error of a store that would otherwise name --store.
func stateError(err error) error { return &advisedError{fmt.Errorf("--state: %w", err), ""} }

func (f *serveFlags) grants(ctx context.Context) ([]embedded.Grant, error) {
	if f.apiKeyFile == "" {
		return nil, errors.New("no API keys: name a file of them with --api-key-file")
	}
	price, err := f.gateway.price.get(probe.Profile{})
	if err != nil {
		return nil, err
	}
	return parseSettings(ctx, "--api-key-file", f.apiKeyFile, func(text []byte) ([]embedded.Grant, error) {
		return embedded.LoadKeys(bytes.NewReader(text), price)
	})
}

// hearReloads sends on reloads at each SIGHUP, until leave is called. A terminal that closes also sends SIGHUP, which then ends a
// service that was started in the terminal.
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

// keepKeys reads the API keys and the certificate again at every reload, until end is called. If the new keys or the new
// certificate cannot be read, the earlier ones stay in use.
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
