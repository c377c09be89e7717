package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// endings are how the signals end a run, its message and its command.
type endings struct {
	hurried context.Context // done from the second signal on
	hurry   context.CancelFunc
	killed  context.Context // done at the third
	kill    context.CancelFunc
	command atomic.Bool   // the command of --on-end may be running
	ended   chan struct{} // closed when the run, its message and its command have ended
}

// attend ends the run at signals, until leave is called. A quiet run reports nothing.
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

// tell reports to the terminal, unless there is nothing to say yet.
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
			stopping = "finishing " + inFlight(requests)
		}
		return stopping + "; press again to quit"
	})
}

// hurry ends the run soon, after the second signal.
func (f *runFlags) hurry() {
	f.endings.hurry()
	f.tell(func(*pipeline.Session) string {
		return fmt.Sprintf("quitting within %v; press again to quit at once", pipeline.HurriedGrace)
	})
}

// quitLimit is how long the process waits for the end of the command of --on-end, which it has killed.
const quitLimit = 500 * time.Millisecond

// quit reports the quit at the third signal, and the command that goes on.
func (f *runFlags) quit() {
	f.streams.err.EndBar()
	f.tell(func(session *pipeline.Session) string {
		text := "quit with " + inFlight(session.Counts().InFlight)
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

// endContext bounds the message and the command at the end of a run: HurriedGrace from the second signal on, and
// no time from the third on.
func (e *endings) endContext(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(context.WithoutCancel(parent))
	context.AfterFunc(e.killed, cancel)
	context.AfterFunc(e.hurried, func() { time.AfterFunc(pipeline.HurriedGrace, cancel) })
	return ctx, cancel
}

func inFlight(requests int64) string {
	if requests == 1 {
		return "1 request in flight"
	}
	return fmt.Sprintf("%d requests in flight", requests)
}
