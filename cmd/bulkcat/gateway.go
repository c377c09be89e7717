package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/gateway"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/statefolder"
)

// gatewayFlags make `serve` a gateway to a hosted service.
type gatewayFlags struct {
	upstream string
	keyFile  string
	store    string
	maxAge   time.Duration
	limits   limits.Options // of the hosted service
	requests serviceFlags
	price    priceFlags
}

// gatewayInFlight is the maximum number of requests in a gateway at once: most requests wait for the upstream.
const gatewayInFlight = 16384

func (f *gatewayFlags) options() []option {
	return slices.Concat([]option{
		{name: "upstream", to: &f.upstream, help: "be a gateway to the hosted service at `URL`, with the API key in BULKCAT_API_KEY"},
		{name: "upstream-key-file", to: &f.keyFile, help: "read the API key of the hosted service from `FILE` instead of BULKCAT_API_KEY"},
		{name: "store", to: &f.store, help: "keep the answers of the hosted service in `FILE`, which runs and other gateways share (default $XDG_STATE_HOME/bulkcat/answers.db)"},
		{name: "max-age", to: ageValue(&f.maxAge), help: "ask again for answers older than this, such as 30d or 12h; 0 for any age. A request can ask for younger answers with Cache-Control: max-age"},
		{name: "rate", to: rateValue(&f.limits.Rate), help: "requests to the hosted service at most, such as 10/s or 600/m; auto learns what the service allows"},
		{name: "reserve", to: &f.limits.Reserve, or: -1, check: atLeast(&f.limits.Reserve, -1), help: "leave `N` requests of the hosted service's quota; -1 for no bound"},
	}, f.price.options(), f.requests.requestOptions())
}

func (f *gatewayFlags) check(taxonomies customFlags, state string) error {
	if f.upstream != "" {
		if err := taxonomies.checkHosted(); err != nil {
			return err
		}
	}
	switch {
	case f.upstream != "" && state != "":
		return errors.New("--state: a gateway keeps the used quota in its store: leave out --state")
	case f.upstream == "" && given(f.price.flags, "store"):
		return errors.New("--store: only a gateway has a store: give --upstream")
	case f.upstream == "" && f.price.Request > 0 && given(f.price.flags, "price"):
		return errors.New("--price: only a gateway's answers cost something: give --upstream")
	}
	return nil
}

// serveGateway opens the store, and serves until the context ends.
func (f *serveFlags) serveGateway(ctx context.Context, s streams, listener net.Listener, scheme string, options embedded.ServerOptions, grants []embedded.Grant, reloads <-chan struct{}, log *slog.Logger) (err error) {
	g := &f.gateway
	g.requests.BaseURL, g.requests.apiKeyFile, g.requests.apiKeyFlag = g.upstream, g.keyFile, "--upstream-key-file"
	upstream, err := g.requests.open(ctx, 0, log)
	if err != nil {
		return err
	}
	defer upstream.Close()
	store, err := g.openStore(upstream.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	g.limits.InFlight, g.limits.KeepReserve = client.MaxConnections(limits.DefaultInFlight), g.limits.Reserve >= 0
	gw, err := gateway.New(ctx, gateway.Options{
		Upstream: upstream.Attempter, Usage: upstream.Usage, Store: store, Limits: g.limits,
		Retry: client.DefaultRetryPolicy(), MaxAge: g.maxAge, Price: g.price.Price, Grants: grants, Logger: log,
	})
	if err != nil {
		return err
	}
	defer f.keepKeys(ctx, reloads, gw.SetGrants, log)()
	fmt.Fprintf(s.err, "bulkcat serves %s://%s as a gateway to %s until it is interrupted\n", scheme, listener.Addr(), upstream.Name)
	return gw.Serve(ctx, listener, options, f.grace)
}

func (f *gatewayFlags) openStore(source string) (*answers.Store, error) {
	path, err := storePath(f.store)
	if err == nil && f.store == "" {
		err = statefolder.Make()
	}
	if err != nil {
		return nil, err
	}
	store, err := answers.Open(answers.Options{Path: path, Source: source})
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	return store, nil
}
