package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/scripts/process"
)

// command is a process that is measured.
type command struct {
	cores  string // the cores, in the form of taskset; they also set GOMAXPROCS
	dir    string // the working directory; "" for the present one
	env    []string
	stdout io.Writer // nil for effort.said
	args   []string
}

// effort has the resources that a process has used.
type effort struct {
	wall  time.Duration
	cpu   time.Duration // user and system time
	peak  int64         // resident memory in bytes
	calls int64         // system calls of the read and write families, those on sockets included
	said  []byte
}

// run runs a process to its end; any status but 0 is an error.
func (c command) run(ctx context.Context) (effort, error) {
	var out, stderr bytes.Buffer
	cmd := c.build(ctx)
	cmd.Stdout, cmd.Stderr = c.stdout, &stderr
	if c.stdout == nil {
		cmd.Stdout = &out
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return effort{}, err
	}
	awaitExit(cmd.Process.Pid)
	e := effort{wall: time.Since(began), calls: callsOf(cmd.Process.Pid)}
	if err := cmd.Wait(); err != nil {
		return e, fmt.Errorf("%s: %w: %s", strings.Join(c.args, " "), err, strings.TrimSpace(stderr.String()+out.String()))
	}
	e.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	e.peak, e.said = peakOf(cmd.ProcessState), out.Bytes()
	return e, nil
}

func (c command) build(ctx context.Context) *exec.Cmd {
	args := c.args
	if pins() && c.cores != "" {
		args = append([]string{"taskset", "-c", c.cores}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = c.dir
	// The user's settings must not affect the measurement.
	cmd.Env = append(process.Without("BULKCAT_"), c.env...)
	return cmd
}

// pins reports whether processes can be pinned to cores.
func pins() bool {
	_, err := exec.LookPath("taskset")
	return err == nil
}
