package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"syscall"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// serveMode runs the service in a process of its own. The process prints its URL, and ends when the context is done.
func serveMode(ctx context.Context, args []string, stdout io.Writer) error {
	var options clienttest.Lean
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.DurationVar(&options.Latency, "latency", 0, "of an answer, on average")
	flags.DurationVar(&options.Spread, "spread", 0, "around the latency, on both sides")
	flags.Var(&options.Protocol, "protocol", "to speak")
	caFile := flags.String("ca-file", "", "to write the certificate authority to, for TLS")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if options.Protocol.TLS() {
		certificate, authority, err := clienttest.NewCertificate()
		if err != nil {
			return err
		}
		if err := os.WriteFile(*caFile, authority, 0o666); err != nil {
			return err
		}
		options.Certificate = certificate
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	fmt.Fprintf(stdout, "%s://%s\n", options.Protocol.Scheme(), l.Addr())
	_ = options.Serve(l) // always the error of a closed listener
	return nil
}

// server is a running service.
type server struct {
	*process.Process
	url      string
	protocol clienttest.Protocol
	caFile   string // "" without TLS
}

// serve starts the service on the server's cores. It makes a certificate itself.
func (r *rig) serve(ctx context.Context, options clienttest.Lean) (*server, error) {
	s := &server{protocol: options.Protocol}
	args := []string{r.self, "serve", "-latency", options.Latency.String(), "-spread", options.Spread.String(), "-protocol", options.Protocol.String()}
	if options.Protocol.TLS() {
		s.caFile = r.output("pem")
		args = append(args, "-ca-file", s.caFile)
	}
	p, err := r.start(ctx, serverCore, nil, args...)
	if err != nil {
		return nil, err
	}
	url, err := p.AwaitLog(regexp.MustCompile(`https?://\S+`))
	if err != nil {
		return nil, err
	}
	s.Process, s.url = p, url[0]
	return s, nil
}

func (s *server) close() { _ = s.Stop(syscall.SIGTERM) } // the exit status does not matter
