package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals end the program: in order at the first signal, at once at the second.
type signals struct {
	mu       sync.Mutex
	stopping func()          // reports the first signal; may be nil
	quitting func()          // reports the second; may be nil
	last     func(os.Signal) // runs after the second signal was reported; may be nil
}

// watch ends the context at the first SIGINT, SIGTERM or SIGHUP, so that the run stops in order. At the second
// signal it ends the process, which is as safe as a kill: committed answers stay. SIGHUP never counts as the
// second signal: the shell and the system each send SIGHUP when a terminal closes.
func (s *signals) watch(parent context.Context) context.Context {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGINT, syscall.SIGTERM)
	hangUp := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(hangUp, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		var first os.Signal
		select {
		case first = <-received:
		case first = <-hangUp:
		}
		s.stop(func() { cancel(&signalError{first}) })
		second := <-received
		s.quit(second)
		os.Exit(exitStatusOf(second))
	}()
	return ctx
}

// attend sets the functions that report the signals, until leave is called.
func (s *signals) attend(stopping, quitting func()) (leave func()) {
	s.set(func() { s.stopping, s.quitting = stopping, quitting })
	return func() { s.set(func() { s.stopping, s.quitting = nil, nil }) }
}

// atQuit sets the function that runs before the second signal ends the process, until leave is called.
func (s *signals) atQuit(last func(os.Signal)) (leave func()) {
	s.set(func() { s.last = last })
	return func() { s.set(func() { s.last = nil }) }
}

// set changes the functions, once none of them runs.
func (s *signals) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *signals) stop(cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel()
	if s.stopping != nil {
		s.stopping()
	}
}

func (s *signals) quit(signal os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quitting != nil {
		s.quitting()
	}
	if s.last != nil {
		s.last(signal)
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
	if s == syscall.SIGTERM || s == syscall.SIGHUP {
		return exitTerminated
	}
	return exitInterrupted
}
