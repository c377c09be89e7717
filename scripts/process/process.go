package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Process is a program that has been started.
type Process struct {
	Started time.Time

	cmd   *exec.Cmd
	log   string // path
	ended chan struct{}
	err   error         // of Wait; set before ended is closed
	took  time.Duration // set before ended is closed
}

// Start starts a command. It appends the standard error of the command to the file log and, unless cmd.Stdout is set, the
// standard output. The process is killed when ctx ends.
func Start(ctx context.Context, cmd *exec.Cmd, log string) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the process has its own descriptor
	if cmd.Stderr = file; cmd.Stdout == nil {
		cmd.Stdout = file
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = Attributes()
	}
	p := &Process{Started: time.Now(), cmd: cmd, log: log, ended: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // fails if the process has ended
	go func() {
		defer close(p.ended)
		p.err = cmd.Wait()
		p.took = time.Since(p.Started)
		release()
	}()
	return p, nil
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits for the end. Its error is an *exec.ExitError unless the exit status is 0.
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}

// Complete waits for the end. It returns an error, which quotes the log, if the exit status is neither 0 nor one of others.
func (p *Process) Complete(others ...int) error {
	if err := p.Wait(); err != nil && !slices.Contains(others, p.Status()) {
		return fmt.Errorf("%s: %w: %s", p.name(), err, p.printed())
	}
	return nil
}

// Took waits for the end, and returns the duration of the process.
func (p *Process) Took() time.Duration {
	<-p.ended
	return p.took
}

// Used waits for the end, and returns the processor time of user and system, and the peak resident memory in bytes; 0 if the
// system does not tell.
func (p *Process) Used() (cpu time.Duration, peak int64) {
	<-p.ended
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), peakOf(p.cmd.ProcessState)
}

// Status waits for the end, and returns the exit status; -1 after a signal.
func (p *Process) Status() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// Killed waits for the end, and reports whether SIGKILL was its cause.
func (p *Process) Killed() bool {
	<-p.ended
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill ends the process with SIGKILL, and waits for the end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails if the process has ended
	<-p.ended
}

// grace is the time that a process may take to end.
const grace = 10 * time.Second

// Stop ends the process with a signal, so that it can end its own children. If the process does not end within grace, Stop kills
// it and returns an error.
func (p *Process) Stop(s os.Signal) error {
	if err := p.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(grace):
		p.Kill()
		return fmt.Errorf("%s did not end within %v: %s", p.name(), grace, p.printed())
	}
}

func (p *Process) name() string { return filepath.Base(p.cmd.Path) }

// Log returns the content of the log file. The output of an earlier process comes first.
func (p *Process) Log() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// printed returns the log for errors.
func (p *Process) printed() string { return strings.TrimSpace(p.Log()) }

// starting is the time that a process may take until it is ready, on a busy machine.
const starting = time.Minute

// Ready waits until ready returns nil. It returns an error if the process ends before, and kills a process that takes
// too long.
func (p *Process) Ready(ready func() error) error {
	tick, limit := time.NewTicker(5*time.Millisecond), time.After(starting)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return fmt.Errorf("%s has ended (%w): %s", p.name(), p.err, p.printed())
		case <-limit:
			p.Kill()
			return fmt.Errorf("%s is not ready after %v: %w: %s", p.name(), starting, err, p.printed())
		}
	}
}

// AwaitLog waits until the log matches a pattern, and returns the match and its groups.
func (p *Process) AwaitLog(pattern *regexp.Regexp) (match []string, err error) {
	err = p.Ready(func() error {
		if match = pattern.FindStringSubmatch(p.Log()); match == nil {
			return fmt.Errorf("it does not print %s", pattern)
		}
		return nil
	})
	return match, err
}
