package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// endings are the contexts with which signals end a run, its last message and the command of --on-end.
type endings struct {
	hurried context.Context // done at the second signal
	hurry   context.CancelFunc
	killed  context.Context // done at the third signal
	kill    context.CancelFunc
	command atomic.Bool   // the command of --on-end may be running
	ended   chan struct{} // closed when the run, the message and the command have ended
}

// attend makes signals end the run, until leave is called. A quiet run prints nothing about signals.
func (f *runFlags) attend() (leave func()) {
	e := &f.endings
	e.hurried, e.hurry = context.WithCancel(context.Background())
	e.killed, e.kill = context.WithCancel(context.Background())
	e.ended = make(chan struct{})
	f.Hurry = e.hurried.Done()
	unattend := f.streams.signals.handle(signalHandlers{stopping: f.tellStop, hurrying: f.hurry, quitting: f.quit})
	return func() {
		close(e.ended)
		unattend()
		e.hurry()
		e.kill()
	}
}

// tell prints a text about the session, unless the run is quiet or has no session yet.
func (f *runFlags) tell(text func(*pipeline.Session) string) {
	if session := f.session.Load(); session != nil && !f.log.quiet {
		fmt.Fprintln(f.streams.err, text(session))
	}
}

// tellStop reports the stop after the first signal.
func (f *runFlags) tellStop() {
	f.tell(func(session *pipeline.Session) string {
		stopping := "stopping"
		if requests := session.Counts().InFlight; requests > 0 {
			stopping = "finishing " + figures.Counted(requests, "request") + " in flight"
		}
		return stopping + "; press again to quit"
	})
}

// hurry shortens the grace period at the second signal.
func (f *runFlags) hurry() {
	f.endings.hurry()
	f.tell(func(*pipeline.Session) string {
		return fmt.Sprintf("quitting within %v; press again to quit at once", pipeline.HurriedGrace)
	})
}

// quitLimit is how long the process waits for the end of the command of --on-end after killing it.
const quitLimit = 500 * time.Millisecond

// quit prints the command that resumes the run, at the third signal, and kills the command of --on-end.
func (f *runFlags) quit() {
	f.streams.err.EndBar()
	f.tell(func(session *pipeline.Session) string {
		text := "quit with " + figures.Counted(session.Counts().InFlight, "request") + " in flight"
		if command := resumeCommand(session, &pipeline.StopError{Cause: account.Interrupted}); command != "" {
			text += "\n  resume    " + command
		}
		return text
	})
	f.endings.kill()
	if f.endings.command.Load() {
		select {
		case <-f.endings.ended:
		case <-time.After(quitLimit):
		}
	}
}

// endContext returns the context of the message and the command at the end of a run. It is canceled HurriedGrace after the second
// signal, and at the third signal.
func (e *endings) endContext(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(context.WithoutCancel(parent))
	context.AfterFunc(e.killed, cancel)
	context.AfterFunc(e.hurried, func() { time.AfterFunc(pipeline.HurriedGrace, cancel) })
	return ctx, cancel
}
