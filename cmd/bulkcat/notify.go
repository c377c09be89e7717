package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/notify"
)

// notifyFlags say when and where messages about a run are posted, and which command runs after the run.
type notifyFlags struct {
	url    string
	on     string
	format notify.Format
	onEnd  string
}

// notifySecret is the variable with the secret that signs messages.
const notifySecret = "BULKCAT_NOTIFY_SECRET"

// notices posts the messages about one run, and runs the command of --on-end.
type notices struct {
	flags    *runFlags
	notifier *notify.Notifier // nil without --notify
	started  time.Time
}

// notified runs the run, and then posts the message about its end.
func (f *runFlags) notified(ctx context.Context, run func() error) error {
	n, err := f.openNotices(ctx)
	if err != nil {
		return &usageError{err}
	}
	if f.dryRun || n.notifier == nil && f.notify.onEnd == "" {
		return flagged(run())
	}
	f.notices = n
	err = flagged(run())
	ending, cancel := f.endings.endContext(ctx)
	defer cancel()
	n.end(ending, err, exitStatus(err, signalOf(ctx)))
	return err
}

func (f *runFlags) openNotices(ctx context.Context) (*notices, error) {
	n := &notices{flags: f, started: time.Now()}
	on, err := notify.ParseOccasions(f.notify.on)
	if err != nil {
		return nil, fmt.Errorf("--notify-on: %w", err)
	}
	if format := f.notify.format; format != notify.JSON && format != notify.Slack {
		return nil, fmt.Errorf("--notify-format: %q must be %s or %s", format, notify.JSON, notify.Slack)
	}
	if f.notify.url == "" {
		return n, nil
	}
	options := notify.Options{
		URL: f.notify.url, On: on, Format: f.notify.format, Secret: os.Getenv(notifySecret),
		UserAgent: "bulkcat/" + version(), Hide: f.hide, Log: f.log.logger(f.streams.err),
	}
	if options.RootCAs, err = f.service.rootCAs(ctx); err != nil {
		return nil, err
	}
	if n.notifier, err = notify.New(options); err != nil {
		return nil, fmt.Errorf("--notify: %w", err)
	}
	return n, nil
}

// hide removes from a text the secrets that the run has read from files and the environment. The client has already hidden the
// secrets in responses.
func (f *runFlags) hide(text string) string {
	for _, secret := range []string{f.service.key, f.notify.url, os.Getenv(notifySecret)} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}

// end posts the message about the end of the run, and then runs the command, which may take long.
func (n *notices) end(ctx context.Context, err error, status int) {
	occasion, facts := notify.End, n.facts()
	_, stopped := errors.AsType[*pipeline.StopError](err)
	if stopped || status == exitStopped || status == exitInterrupted || status == exitUnread || status == exitTerminated {
		occasion = notify.Stop
	}
	facts.Status, facts.Ending = &status, string(endingOf(err))
	if !isReported(err) && !isBroken(err) {
		facts.Error = n.flags.hide(err.Error())
	}
	if n.notifier != nil {
		delivery, cancel := context.WithTimeout(ctx, notify.Limit)
		n.notifier.Post(occasion, facts)
		n.notifier.Close(delivery)
		cancel()
	}
	if line := n.flags.notify.onEnd; line != "" {
		n.flags.endings.command.Store(true)
		command := notify.Command{Line: line, Output: n.flags.streams.err}
		if err := command.Run(ctx, occasion, facts); err != nil {
			n.flags.log.logger(n.flags.streams.err).Warn("the command of --on-end failed", "error", err)
		}
	}
}

func endingOf(err error) account.Ending {
	if _, ended := errors.AsType[*signalError](err); ended {
		return account.Ending(account.Interrupted)
	}
	if isReported(err) || isBroken(err) {
		return account.Complete
	}
	return pipeline.EndingOf(err)
}

// facts returns the present facts.
func (n *notices) facts() notify.Facts {
	f := n.flags
	facts := notify.Facts{
		Bulkcat: version(), Kind: string(f.Kind), Inputs: f.input.Paths, Output: f.Output.Path,
		Seconds: time.Since(n.started).Seconds(),
	}
	session := f.session.Load()
	if session == nil {
		return facts
	}
	c := session.Counts()
	facts.Counts = notify.Counts{
		Records: c.Settled(), Rows: c.Rows, OK: c.OK, Empty: c.Empty, Blank: c.Blank, Unanswered: c.Unanswered(),
		Requests: c.Requests, Retries: c.Retries, FromStore: c.FromStore,
	}
	if f.account != nil {
		for _, e := range f.account.Expectations {
			if !e.Met {
				facts.Broken = append(facts.Broken, e.Expectation+": "+e.Value)
			}
		}
	}
	facts.Account, facts.Cost = session.AccountPath(), session.Cost()
	return facts
}

// watch posts the events of a run until ended is called.
func (n *notices) watch(session *pipeline.Session) (ended func()) {
	if n == nil {
		return func() {}
	}
	return n.notifier.Watch(func() notify.Snapshot {
		p := session.Progress()
		return notify.Snapshot{Outages: p.Counts.Outages, Metered: p.Metered, Quota: p.Quota, Facts: n.facts()}
	})
}
