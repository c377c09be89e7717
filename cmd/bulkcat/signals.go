package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer"
)

// signals end the program: in order at the first signal, soon at the second, at once at the third.
type signals struct {
	mu       sync.Mutex
	handlers signalHandlers
	hangUp   chan os.Signal
}

// signalHandlers are the functions of a run that act on signals. Each may be nil.
type signalHandlers struct {
	stopping func() // reports the first signal
	hurrying func() // has the run end soon, at the second
	quitting func() // reports the third, before the process ends

	reloading func() bool // acts on SIGHUP; false if SIGHUP is the first signal
}

// watch ends the context at the first SIGINT, SIGTERM or SIGHUP, so that the run stops in order. At the second
// signal a run hurries: programs such as GNU timeout send two at once. The third signal ends the process, which is as
// safe as a kill: committed answers stay. Commands that are no run end at the second. SIGHUP counts as the first
// signal only: the shell and the system each send SIGHUP when a terminal closes. A service reads its keys again at SIGHUP.
func (s *signals) watch(parent context.Context) context.Context {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGINT, syscall.SIGTERM)
	s.hangUp = make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(s.hangUp, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		var first os.Signal
		for first == nil {
			select {
			case first = <-received:
			case hangUp := <-s.hangUp:
				if !s.reload() {
					first = hangUp
				}
			}
		}
		s.stop(func() { cancel(&signalError{first}) })
		last := <-received
		if s.hurry() {
			last = <-received
		}
		s.quit()
		os.Exit(exitStatusOf(last))
	}()
	return ctx
}

// untilEnd ends the context at the end of a stream as the first SIGINT does. A program that holds the other end stops the
// run by closing it, on every system, and a run does not outlive a program that is killed.
func untilEnd(parent context.Context, in io.Reader) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		_, _ = io.Copy(io.Discard, in) // a stream that cannot be read has ended
		cancel(&signalError{os.Interrupt})
	}()
	return ctx
}

// errBrokenPipe ends a run when the reader of its rows has exited, as `head` does. Nothing is printed; the exit status is 141.
var errBrokenPipe = &signalError{syscall.SIGPIPE}

// whileRead returns a context that ends as soon as the reader of standard output closes the pipe. Without it, a run would notice
// the broken pipe at the next row, and ask for that row in vain.
func (s streams) whileRead(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		if terminal.AwaitBrokenPipe(s.out) {
			cancel(errBrokenPipe)
		}
	}()
	return ctx
}

// orBrokenPipe returns errBrokenPipe in place of the error of a run that a broken pipe has ended. After a signal the error stays,
// because Ctrl-C ends both ends of a pipe.
func orBrokenPipe(signalled, read context.Context, err error) error {
	stop, stopped := errors.AsType[*pipeline.StopError](err)
	if !stopped || stop.Cause != account.Interrupted || signalOf(signalled) != nil {
		return err
	}
	if signalOf(read) == syscall.SIGPIPE || writer.IsBrokenPipe(err) {
		return errBrokenPipe
	}
	return err
}

// isIn reports whether a path is standard input, so that who reads the one takes from the other. A regular file that is
// opened again is read from its beginning.
func (s streams) isIn(path string) bool {
	in, ok := s.in.(*os.File)
	if path == "-" || !ok {
		return path == "-"
	}
	opened, err := in.Stat()
	named, otherErr := os.Stat(path)
	return errors.Join(err, otherErr) == nil && !opened.Mode().IsRegular() && os.SameFile(opened, named)
}

// outlivePipes makes writing to standard output and standard error an error after their reader is gone: by default the
// process ends at once, without the answers that are in flight. The signal is not ignored, because commands would inherit
// that.
func outlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// handle sets the functions that act on the signals, until leave is called.
func (s *signals) handle(functions signalHandlers) (leave func()) {
	s.set(functions)
	if functions.reloading != nil {
		signal.Notify(s.hangUp, syscall.SIGHUP) // also after nohup
	}
	return func() { s.set(signalHandlers{}) }
}

// set changes the functions, once none of them runs.
func (s *signals) set(functions signalHandlers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers = functions
}

func (s *signals) stop(cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel()
	if s.handlers.stopping != nil {
		s.handlers.stopping()
	}
}

// reload reports whether SIGHUP stops nothing.
func (s *signals) reload() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handlers.reloading != nil && s.handlers.reloading()
}

// hurry reports whether a run hurries.
func (s *signals) hurry() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handlers.hurrying == nil {
		return false
	}
	s.handlers.hurrying()
	return true
}

func (s *signals) quit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handlers.quitting != nil {
		s.handlers.quitting()
	}
}

type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "received " + e.signal.String() }

// signalOf is the signal that has ended a context; nil if no signal has.
func signalOf(ctx context.Context) os.Signal {
	if s, ok := errors.AsType[*signalError](context.Cause(ctx)); ok {
		return s.signal
	}
	return nil
}

// exitStatusOf is the exit status after a signal. A closed terminal ends a run as SIGTERM
// does.
func exitStatusOf(s os.Signal) int {
	switch s {
	case syscall.SIGTERM, syscall.SIGHUP:
		return exitTerminated
	case syscall.SIGPIPE:
		return exitUnread
	}
	return exitInterrupted
}
