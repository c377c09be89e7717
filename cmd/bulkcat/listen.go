package main

import (
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
	server *live.Server // nil without a page
}

func (f *listenFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.addr, "listen", "", "serve a page about the run or the service, /metrics (Prometheus), /status.json and /healthz on `HOST:PORT`, such as 127.0.0.1:9464; port 0 takes a free one. Other names than HOST and localhost are refused, because a foreign page could read this one under a name of its own. The page needs no key, and that of a run has inputs of the list: do not expose it to the internet")
}

// open begins to listen. What is shown, a run or a service, is named in a message.
func (f *listenFlags) open(c *terminal.Console, what string) (err error) {
	if f.addr == "" {
		return nil
	}
	if f.server, err = live.Listen(f.addr); err != nil {
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
