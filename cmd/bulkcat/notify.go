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

// notified runs the run, and then posts the message about its end, and runs the command of --on-end.
func (f *runFlags) notified(ctx context.Context, run func() error) (err error) {
	f.began = time.Now()
	if f.notifier, err = f.openNotifier(ctx); err != nil {
		return &usageError{err}
	}
	err = flagged(run())
	if f.dryRun || f.notifier == nil && f.notify.onEnd == "" {
		return err
	}
	ending, cancel := f.endings.endContext(ctx)
	defer cancel()
	f.tellEnd(ending, err, exitStatus(err, signalOf(ctx)))
	return err
}

// openNotifier returns the notifier that posts the messages about the run; nil without --notify.
func (f *runFlags) openNotifier(ctx context.Context) (*notify.Notifier, error) {
	on, err := notify.ParseOccasions(f.notify.on)
	if err != nil {
		return nil, fmt.Errorf("--notify-on: %w", err)
	}
	if f.notify.url == "" {
		return nil, nil
	}
	options := notify.Options{
		URL: f.notify.url, On: on, Format: f.notify.format, Secret: os.Getenv(notifySecret),
		UserAgent: "bulkcat/" + version(), Hide: f.hide, Log: f.log.logger(f.streams.err),
	}
	if options.RootCAs, err = f.service.rootCAs(ctx); err != nil {
		return nil, err
	}
	n, err := notify.New(options)
	if err != nil {
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

// tellEnd posts the message about the end of the run, and then runs the command, which may take long.
func (f *runFlags) tellEnd(ctx context.Context, err error, status int) {
	occasion, facts := notify.End, f.facts()
	_, stopped := errors.AsType[*pipeline.StopError](err)
	if stopped || status == exitStopped || status == exitInterrupted || status == exitUnread || status == exitTerminated {
		occasion = notify.Stop
	}
	facts.Status, facts.Ending = &status, string(endingOf(err))
	if !isReported(err) && !isBroken(err) {
		facts.Error = f.hide(err.Error())
	}
	if f.notifier != nil {
		delivery, cancel := context.WithTimeout(ctx, notify.Limit)
		f.notifier.Post(occasion, facts)
		f.notifier.Close(delivery)
		cancel()
	}
	if line := f.notify.onEnd; line != "" {
		f.endings.command.Store(true)
		command := notify.Command{Line: line, Output: f.streams.err}
		if err := command.Run(ctx, occasion, facts); err != nil {
			f.log.logger(f.streams.err).Warn("the command of --on-end failed", "error", err)
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
func (f *runFlags) facts() notify.Facts {
	facts := notify.Facts{
		Bulkcat: version(), Kind: string(f.Kind), Inputs: f.input.Paths, Output: f.Output.Path,
		Seconds: time.Since(f.began).Seconds(),
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
	facts.Account, facts.Cost = session.AccountPath(), session.Status().Cost
	return facts
}

// notice posts the events of a run until ended is called.
func (f *runFlags) notice(session *pipeline.Session) (ended func()) {
	return f.notifier.Watch(func() notify.Snapshot {
		return notify.Snapshot{Outages: session.Counts().Outages, Quota: session.Status().Quota, Facts: f.facts()}
	})
}
