package main

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/live"
)

// listenFlags say where a run or a service shows its page.
type listenFlags struct {
	addr   string
	hosts  []string
	server *live.Server // nil without a page
}

func (f *listenFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.addr, "listen", "", "serve a page about the run or the service, /metrics (Prometheus), /status.json and /healthz on `HOST:PORT`, such as 127.0.0.1:9464; port 0 takes a free one. The page needs no key, and that of a run has inputs of the list: do not expose it to the internet")
	flags.StringArrayVar(&f.hosts, "listen-host", nil, "serve the page also under the `NAME` of a host; other names than localhost and that of --listen are refused, because a foreign page could read this one under a name of its own; may be given several times")
}

// check refuses a name of a page that is not served.
func (f *listenFlags) check() error {
	if f.addr == "" && len(f.hosts) > 0 {
		return errors.New("--listen-host has no effect without --listen: name the address of the page, such as --listen 127.0.0.1:9464")
	}
	return nil
}

// open begins to listen. What is shown, a run or a service, is named in a message.
func (f *listenFlags) open(c *terminal.Console, what string) (err error) {
	if f.addr == "" {
		return nil
	}
	if f.server, err = live.Listen(f.addr, f.hosts...); err != nil {
		return &usageError{fmt.Errorf("--listen: %w", err)}
	}
	fmt.Fprintf(c, "the %s is shown at %s\n", what, f.server.URL())
	return nil
}

// watch shows a session until ended is called.
func (f *listenFlags) watch(session *pipeline.Session) (ended func()) {
	if f.server == nil {
		return func() {}
	}
	f.server.Show(live.NewRun(session.Status))
	return f.server.Watch()
}

// serve shows a service until ended is called.
func (f *listenFlags) serve(title string, options *embedded.ServerOptions) (ended func()) {
	if f.server == nil {
		return func() {}
	}
	options.Metrics = prometheus.NewRegistry()
	f.server.Show(live.NewService(title, options.Metrics))
	return f.server.Watch()
}

func (f *listenFlags) close() error {
	if f.server == nil {
		return nil
	}
	return f.server.Close()
}
