package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/gateway"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/backup"
	"github.com/bulkcat/bulkcat/writer"
)

// gatewayFlags make `serve` a gateway to a hosted service.
type gatewayFlags struct {
	upstream string
	keyFile  string
	store    string
	maxAge   ageValue
	backup   backup.Options // Place and Every
	limits   limits.Options // of the hosted service
	requests serviceFlags
	price    priceFlags
}

// gatewayInFlight is the number of requests that a gateway answers at once: most wait for the upstream.
const gatewayInFlight = 16384

// ledgerName is the ledger in the folder of the store.
const ledgerName = "used.ledger"

func (f *gatewayFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.upstream, "upstream", "", "be a gateway to the hosted service at `URL`, with the API key in BULKCAT_API_KEY")
	flags.StringVar(&f.keyFile, "upstream-key-file", "", "read the API key of the hosted service from `FILE` instead of BULKCAT_API_KEY")
	flags.StringVar(&f.store, "store", "", "keep the answers of the hosted service in `DIR`")
	bindBackup(flags, &f.backup.Place, &f.backup.Every)
	flags.Var(&f.maxAge, "max-age", "ask again for answers older than this, such as 30d or 12h; 0 for any age. A request can ask for younger answers with Cache-Control: max-age")
	flags.Var((*rateValue)(&f.limits.Rate), "rate", "requests to the hosted service at most, such as 10/s or 600/m; auto learns what the service allows")
	flags.IntVar(&f.limits.Burst, "burst", 1, "requests at once within --rate, after a pause")
	flags.Int64Var(&f.limits.Reserve, "reserve", -1, "leave `N` requests of the hosted service's quota; -1 for no bound")
	f.price.bind(flags)
	f.requests.bindRequests(flags)
}

func (f *gatewayFlags) check(taxonomies customFlags) error {
	if f.upstream != "" {
		if err := taxonomies.checkHosted(); err != nil {
			return err
		}
	}
	switch {
	case (f.upstream == "") != (f.store == ""):
		return errors.New("a gateway needs both --upstream and --store")
	case f.upstream == "" && f.backup.Place != "":
		return errors.New("--store-backup: only a gateway has a store: give --upstream and --store")
	case f.upstream == "" && f.price.Request > 0:
		return errors.New("--price: only a gateway's answers cost something: give --upstream and --store")
	case f.backup.Every < time.Second:
		return errors.New("--store-backup-every: must be at least 1s")
	}
	return atLeast("--burst", f.limits.Burst, 1)
}

// serveGateway opens the store and the ledger, and serves until the context ends.
func (f *serveFlags) serveGateway(ctx context.Context, s streams, listener net.Listener, options embedded.ServerOptions, grants []embedded.Grant, log *slog.Logger) (err error) {
	g := &f.gateway
	g.requests.BaseURL, g.requests.apiKeyFile, g.requests.apiKeyFlag = g.upstream, g.keyFile, "--upstream-key-file"
	upstream, err := g.requests.open(ctx, 0, log)
	if err != nil {
		return err
	}
	defer upstream.Close()
	store, closeStore, err := g.openStore(ctx, upstream.Name, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	if f.state == "" {
		f.state = filepath.Join(g.store, ledgerName)
	}
	if err := restoreLedger(store, f.state, log); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	ledger, err := f.ledger(log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	g.limits.InFlight, g.limits.KeepReserve = client.MaxConnections(limits.DefaultInFlight), g.limits.Reserve >= 0
	gw, err := gateway.New(ctx, gateway.Options{
		Upstream: upstream.Categorizer, Usage: upstream.Usage, Store: store, Limits: g.limits,
		Retry: client.DefaultRetryPolicy(), MaxAge: time.Duration(g.maxAge), Price: g.price.Price, Grants: grants, Ledger: ledger, Logger: log,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "bulkcat serves http://%s as a gateway to %s until it is interrupted\n", listener.Addr(), upstream.Name)
	return gw.Serve(ctx, listener, options, f.grace)
}

// restoreLedger makes the ledger that a store has a note of, unless there is one: the store was restored from its copy.
func restoreLedger(store *answers.Store, path string, log *slog.Logger) error {
	content, err := gateway.NotedLedger(store)
	if err != nil || content == nil {
		return err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writer.PublishFile(path, content); err != nil {
		return err
	}
	log.Info("the used quota of the keys is restored from the store", "file", path)
	return nil
}

// openStore opens the store, after it is restored if there is only a copy, and copies it until closeStore.
func (f *gatewayFlags) openStore(ctx context.Context, source string, log *slog.Logger) (store *answers.Store, closeStore func() error, err error) {
	if f.backup.Place != "" {
		if _, err := backup.Restore(ctx, f.backup.Place, f.store, log); err != nil {
			return nil, nil, err
		}
	}
	store, err = answers.Open(answers.Options{Dir: f.store, Source: source, Log: log})
	if err != nil {
		return nil, nil, fmt.Errorf("--store: %w", err)
	}
	if f.backup.Place == "" {
		return store, store.Close, nil
	}
	copied, err := backup.Start(context.WithoutCancel(ctx), store, backup.Options{Place: f.backup.Place, Dir: f.store, Every: f.backup.Every, Log: log})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--store-backup: %w", err), store.Close())
	}
	return store, func() error { copied.Stop(); return store.Close() }, nil
}
