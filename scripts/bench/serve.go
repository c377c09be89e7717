package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// serveMode runs the service in a process of its own. The process prints its URL, and ends when
// its standard input does or when the context is done, so that no service outlives the benchmark.
func serveMode(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
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
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // an error ends the input, too
		l.Close()
	}()
	fmt.Fprintf(stdout, "%s://%s\n", options.Protocol.Scheme(), l.Addr())
	_ = options.Serve(l) // always the error of a closed listener
	return nil
}

// server is a running service.
type server struct {
	url      string
	protocol clienttest.Protocol
	caFile   string // "" without TLS
	cmd      *exec.Cmd
	stdin    io.Closer
}

// serve starts the service on the server's cores. It makes a certificate itself.
func (r *rig) serve(ctx context.Context, options clienttest.Lean) (*server, error) {
	s := &server{protocol: options.Protocol}
	args := []string{
		r.self, "serve", "-latency", options.Latency.String(), "-spread", options.Spread.String(),
		"-protocol", options.Protocol.String(),
	}
	if options.Protocol.TLS() {
		s.caFile = r.output("pem")
		args = append(args, "-ca-file", s.caFile)
	}
	s.cmd = command{cores: r.cores.server, args: args}.build(ctx)
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.stdin = stdin
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		s.close()
		return nil, fmt.Errorf("the service has not started: %w", err)
	}
	s.url = strings.TrimSpace(line)
	return s, nil
}

func (s *server) close() {
	s.stdin.Close()
	_ = s.cmd.Wait() // the exit status does not matter
}
