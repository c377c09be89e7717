package main

import (
	"context"
	"fmt"
	"os"

	"github.com/bulkcat/bulkcat/pipeline/lineage"
	"github.com/bulkcat/bulkcat/pipeline/notify"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// The variables of OpenLineage, which its clients in other programs read, too.
const (
	lineageNamespace = "OPENLINEAGE_NAMESPACE"
	lineageParent    = "OPENLINEAGE_PARENT_ID"
	lineageSecret    = "OPENLINEAGE_API_KEY"
)

// openLineage makes the emitter of --lineage; nil without.
func (f *runFlags) openLineage(ctx context.Context) (*lineage.Emitter, error) {
	if f.notify.lineage == "" {
		return nil, nil
	}
	log := f.log.logger(f.streams.err)
	options := lineage.Options{
		Place: f.notify.lineage, Namespace: os.Getenv(lineageNamespace), Parent: os.Getenv(lineageParent), Version: version(), Log: log,
		Post: notify.Options{Bearer: os.Getenv(lineageSecret), UserAgent: "bulkcat/" + version(), Hide: f.hide, Log: log},
	}
	var err error
	if options.Post.RootCAs, err = f.service.rootCAs(ctx); err != nil {
		return nil, err
	}
	e, err := lineage.New(options)
	if err != nil {
		return nil, fmt.Errorf("--lineage: %w", err)
	}
	return e, nil
}

// lineageFacts are the facts of the moment.
func (f *runFlags) lineageFacts() lineage.Facts {
	facts := lineage.Facts{RunID: f.lineageID, Kind: string(f.Kind), Inputs: f.input.Paths, Output: f.Output.Path}
	if session := f.session.Load(); session != nil {
		facts.Counts = session.Counts()
	}
	return facts
}

// endLineage emits the event of the end, if the run has started.
func (f *runFlags) endLineage(e *lineage.Emitter, err error) {
	if e == nil || f.session.Load() == nil {
		return
	}
	if f.lineageID == "" && f.account != nil { // the run has ended before it asked
		f.lineageID = lineage.RunID(f.account)
	}
	facts, state := f.lineageFacts(), lineage.Fail
	facts.Account = f.account
	switch ending := endingOf(err); {
	case ending == record.Complete:
		state = lineage.Complete
	case ending != record.Failed:
		state = lineage.Abort
	}
	if !isReported(err) {
		facts.Error = f.hide(err.Error())
	}
	e.Emit(state, facts)
}
