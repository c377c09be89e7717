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

// signals end the program: the first signal stops it in order, the second shortens the grace period, and the third ends it at
// once.
type signals struct {
	mu       sync.Mutex
	handlers signalHandlers
	hangUp   chan os.Signal
}

// signalHandlers are the functions of a run that act on signals. Each may be nil.
type signalHandlers struct {
	stopping func() // reports the first signal
	hurrying func() // shortens the grace period at the second signal
	quitting func() // reports the third signal, before the process ends

	reloading func() bool // acts on SIGHUP; false if SIGHUP is the first signal
}

// watch ends the context at the first SIGINT, SIGTERM or SIGHUP, so that the run stops in order. The second signal only shortens
// the grace period of a run, because programs such as GNU timeout send two signals at once; it ends other commands. The third
// signal ends the process, which is as safe as a kill: committed answers stay. SIGHUP counts only as the first signal, because
// the shell and the system each send SIGHUP when a terminal closes. A service reads its keys again at SIGHUP.
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
				s.act(func(h signalHandlers) {
					if h.reloading == nil || !h.reloading() {
						first = hangUp
					}
				})
			}
		}
		s.act(func(h signalHandlers) {
			cancel(&signalError{first})
			if h.stopping != nil {
				h.stopping()
			}
		})
		last, hurried := <-received, false
		s.act(func(h signalHandlers) {
			if hurried = h.hurrying != nil; hurried {
				h.hurrying()
			}
		})
		if hurried {
			last = <-received
		}
		s.act(func(h signalHandlers) {
			if h.quitting != nil {
				h.quitting()
			}
		})
		os.Exit(exitStatusOf(last))
	}()
	return ctx
}

// untilEnd ends the context at the end of a stream, as the first SIGINT does. A program that holds the other end of the stream
// stops the run by closing the stream, on every system. If that program is killed, the run also stops.
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

// isIn reports whether a path is the same stream as standard input: data that is read from one is missing in the other. It is
// false for a regular file, which is read from its beginning when it is opened again.
func (s streams) isIn(path string) bool {
	in, ok := s.in.(*os.File)
	if path == "-" || !ok {
		return path == "-"
	}
	opened, err := in.Stat()
	named, otherErr := os.Stat(path)
	return errors.Join(err, otherErr) == nil && !opened.Mode().IsRegular() && os.SameFile(opened, named)
}

// outlivePipes makes a write to standard output or standard error return an error after its reader is gone. By default the
// process would end at once and lose the answers in flight. SIGPIPE is not ignored, because commands would inherit that.
func outlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// handle sets the functions that act on the signals, until leave is called.
func (s *signals) handle(functions signalHandlers) (leave func()) {
	s.set(functions)
	if functions.reloading != nil {
		signal.Notify(s.hangUp, syscall.SIGHUP) // also after nohup
	}
	return func() { s.set(signalHandlers{}) }
}

// set changes the functions. It waits until none of them runs.
func (s *signals) set(functions signalHandlers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers = functions
}

// act calls do with the functions, which do not change meanwhile.
func (s *signals) act(do func(signalHandlers)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s.handlers)
}

type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "received " + e.signal.String() }

// signalOf returns the signal that has ended a context; nil if no signal has.
func signalOf(ctx context.Context) os.Signal {
	if s, ok := errors.AsType[*signalError](context.Cause(ctx)); ok {
		return s.signal
	}
	return nil
}

// exitStatusOf returns the exit status after a signal. A closed terminal has the exit status of SIGTERM.
func exitStatusOf(s os.Signal) int {
	switch s {
	case syscall.SIGTERM, syscall.SIGHUP:
		return exitTerminated
	case syscall.SIGPIPE:
		return exitUnread
	}
	return exitInterrupted
}
