package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// session is one run of a command, from the claim of its output to its account.
type session struct {
	flags    *runFlags
	service  service
	input    *reader.Reader
	lock     *writer.Lock  // of the output; nil for standard output
	spool    *reader.Spool // nil unless the input is a pipe that is to be kept
	log      *slog.Logger
	counters *pipeline.Counters
	quota    *quota

	interrupt func() // ends a read that waits for a pipe; nil where none does
	claimed   bool   // the output is this run's to write
}

// run runs, and leaves an account of it however it ends. Only an output that is not
// this run's to write gets none.
func (n *session) run(ctx context.Context) error {
	f := n.flags
	account := f.newAccount(n.service)
	last, err := pipeline.ReadAccount(f.output.accountPath())
	if err != nil {
		n.log.Warn("this run's account begins anew", "reason", err)
	}
	if account.Follow(last) {
		n.tellChanged(account, last)
	}
	if n.input.Empty() {
		if err := f.output.checkEmptied(last); err != nil {
			return errors.Join(err, discardSpool(n.spool))
		}
	}
	published, err := n.ask(ctx, account)
	if !n.claimed {
		return errors.Join(err, discardSpool(n.spool)) // what lies there has an account of its own
	}
	account.Inputs = f.inputsOf(n.input.Files())
	account.Finish(err, n.counters.Snapshot(), published)
	err = errors.Join(err, n.publishAccount(account))
	s := &summary{account: account, resume: n.resumeCommand(err)}
	if n.spool != nil && err != nil {
		s.spool = n.spool.Path()
	}
	err = errors.Join(err, endSpool(n.spool, err == nil))
	if c := account.Counts; err == nil && c.Failed+c.Pending == 0 {
		err = n.endReadSpool()
	}
	if !f.log.quiet {
		if !f.asksNothing() {
			s.left = n.quota.final()
		}
		s.tell(f.streams.err, n.log)
	}
	switch counts := account.Counts; {
	case err != nil:
		return err
	case f.partial && counts.Pending > 0:
		return errPending
	case counts.Unanswered() > 0:
		return errUnanswered
	}
	return nil
}

// tellStop says what the first signal has begun.
func (n *session) tellStop() {
	stopping := "stopping"
	if n.counters.InFlight.Load() > 0 {
		stopping = "finishing " + n.inFlight()
	}
	fmt.Fprintln(n.flags.streams.err, stopping+"; press again to quit")
}

// tellQuit says how to go on after the second signal.
func (n *session) tellQuit() {
	n.flags.streams.err.endBar()
	text := "quit with " + n.inFlight() + "\n"
	if command := n.resumeCommand(&pipeline.StopError{Cause: pipeline.Interrupted}); command != "" {
		text += "  resume    " + command + "\n"
	}
	fmt.Fprint(n.flags.streams.err, text)
}

func (n *session) inFlight() string {
	if requests := n.counters.InFlight.Load(); requests != 1 {
		return fmt.Sprintf("%d requests in flight", requests)
	}
	return "1 request in flight"
}

// tellChanged warns of inputs that are not what the last run has read. The rows follow
// what is there now; answers are kept by input, so none of them is wrong.
func (n *session) tellChanged(account, last *pipeline.Account) {
	account.Changed = changedInputs(n.flags.output.path, last.Inputs)
	for _, name := range account.Changed {
		n.log.Warn("the input is not the one that the last run has read: it has changed before its end; the output follows what is there now", "file", name)
	}
}

// ask opens the parts of the run and runs it.
func (n *session) ask(ctx context.Context, account *pipeline.Account) (published writer.Published, err error) {
	f := n.flags
	options, err := f.options(n.service, n.input)
	if err != nil {
		return published, err
	}
	store, err := n.openStore(ctx, options.Offline)
	if err != nil {
		return published, err
	}
	parts := pipeline.Parts{Source: n.input, Interrupt: n.interrupt, Categorizer: n.service.categorizer, Counters: n.counters, Log: n.log}
	if store != nil {
		defer func() {
			account.Overlapped = store.Overlapped()
			err = joinClose(err, store.Close())
		}()
		parts.Store, account.Store = store.Store, store.Dir
	}
	if err := f.output.claim(account, n.lock); err != nil {
		return published, err
	}
	n.claimed = true
	if n.spool != nil {
		if err := n.spool.Keep(); err != nil {
			return published, err
		}
	}
	if !options.Offline {
		if err := n.checkQuota(ctx, parts.Store, options); err != nil {
			return published, err
		}
	}
	if err := f.pace.apply(&parts, n.service, n.quota); err != nil {
		return published, err
	}
	if options.Manifest, err = f.output.manifest(account, f.store.settled); err != nil {
		return published, err
	}
	if parts.Sink, err = f.output.open(options.Schema, f.metadata(), options.Manifest, f.streams.out); err != nil {
		return published, err
	}
	left := n.quota.left
	if options.Offline {
		left = n.quota.last // asks nothing
	}
	if !f.log.quiet {
		defer f.streams.signals.attend(n.tellStop, n.tellQuit)()
	}
	if rows, ok := f.streams.out.(*os.File); ok && f.output.path == "-" && isTerminal(rows) {
		f.streams.err.bars = false // the rows are on the same terminal
	}
	progress := startProgress(f.log.quiet, f.streams.err, n.log, &progress{
		counters: n.counters, input: n.input.Progress, quota: left, limit: options.Limit,
	})
	published, err = pipeline.Run(ctx, parts, options)
	progress.stop()
	n.warnUnknownKeys()
	return published, joinClose(err, keepLearned(parts))
}

// openStore gives nil where there is no place for a store, or nothing to keep.
func (n *session) openStore(ctx context.Context, offline bool) (*stores.Store, error) {
	f := n.flags
	stored, ok := f.store.options(f.output.path, n.service.source)
	stored.MustExist, stored.Log = offline && n.service.hosted, n.log
	if stored.MustExist && !ok {
		return nil, fmt.Errorf("there are no stored answers to write %s from: name their folder with --store", f.output.path)
	}
	if !ok || !f.keepsAnswers(n.service) {
		return nil, nil
	}
	return stores.Open(ctx, stored)
}

// publishAccount leaves the account, which from then on says whose the output is.
func (n *session) publishAccount(account *pipeline.Account) error {
	if n.lock == nil {
		return nil
	}
	err := account.Write(n.flags.output.accountPath())
	if err == nil {
		n.lock.Settle()
	}
	return err
}

// joinClose adds the error of a store's last calls, which repeat that of a store that failed.
func joinClose(err, closing error) error {
	if errors.Is(err, closing) {
		return err
	}
	return errors.Join(err, closing)
}

// checkQuota looks at the account before the first record.
func (n *session) checkQuota(ctx context.Context, store *answers.Store, options pipeline.Options) error {
	if err := n.quota.check(ctx); err != nil {
		return err
	}
	if !n.quota.metered() {
		return nil
	}
	return n.flags.compareNeed(ctx, n.quota, store, options)
}

// warnUnknownKeys tells of members of JSON objects that came too late to become columns.
func (n *session) warnUnknownKeys() {
	if names, records := n.input.UnknownKeys(); records > 0 {
		n.log.Warn("some records have members that the beginning of the input does not have, and that no column carries: name them with --carry",
			"members", strings.Join(names, ","), "records", records)
	}
}
