package main

import (
	"fmt"
	"net"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

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

// open begins to listen. What is shown, a run or a service, is named in a message.
func (f *listenFlags) open(c *terminal.Console, what string) (err error) {
	if f.addr == "" {
		return nil
	}
	addr, err := addressOf(f.addr)
	if err == nil {
		f.server, err = live.Listen(addr)
	}
	if err != nil {
		return &usageError{fmt.Errorf("--listen: %w", err)}
	}
	fmt.Fprintf(c, "the %s is shown at %s\n", what, f.server.URL())
	return nil
}

// addressOf is HOST:PORT, on this machine if the text is a port alone.
func addressOf(text string) (string, error) {
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		return "127.0.0.1:" + text, nil
	}
	if _, _, err := net.SplitHostPort(text); err != nil {
		return "", fmt.Errorf("%q is no address: write HOST:PORT or a port, such as 127.0.0.1:9464 or 9464", text)
	}
	return text, nil
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
