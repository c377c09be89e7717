package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/scripts/bench/service"
)

// serveMode is the service in a process of its own. It tells its URL and ends when its
// standard input does, so that none is left behind, or when it is told to.
func serveMode(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	var options service.Options
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.DurationVar(&options.Latency, "latency", 0, "of an answer, on average")
	flags.DurationVar(&options.Spread, "spread", 0, "around the latency, on both sides")
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // however it ends, it has ended
		l.Close()
	}()
	fmt.Fprintf(stdout, "http://%s\n", l.Addr())
	_ = service.Serve(l, options) // always the error of a closed listener
	return nil
}

// server is the service, running.
type server struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
}

// serve starts the service on the server's cores.
func (r *rig) serve(ctx context.Context, latency, spread time.Duration) (*server, error) {
	cmd := command{
		cores: r.cores.server,
		args:  []string{r.self, "serve", "-latency", latency.String(), "-spread", spread.String()},
	}.build(ctx)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, stdin: stdin}
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
	_ = s.cmd.Wait() // it has served its purpose
}
