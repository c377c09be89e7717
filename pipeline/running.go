package pipeline

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/pipeline/internal/cascade"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// running is a run that asks.
type running struct {
	*planned
	out       context.Context      // of the calls that write to object storage
	input     atomic.Pointer[pass] // the present pass
	total     progress.Total       // records of the run
	estimator progress.Estimator
}

// results are the results of a run for its account.
type results struct {
	published writer.Published
	carried   []account.Carried
	inputs    []account.Input
	audit     *account.Audit // of the free answers; nil for none
	check     *check         // of the output; nil without expectations
	records   int64          // of the run; estimated unless counted
	learned   string         // describes the limits that the run has learned
}

// start begins the run. out is the context of the calls that write to object storage.
func (p *planned) start(out context.Context) *running {
	r := &running{planned: p, out: out}
	r.input.Store(p.opened.input)
	if p.whole && p.options.Sample == 0 && p.options.Shard == (account.Shard{}) {
		r.total.Set(p.forecast.Records)
	}
	return r
}

// run asks and writes in one pass over the input. It makes another pass from the first record if the audit of the free answers
// has failed, or if the input has changed since the kept parts were written.
func (r *running) run(ctx context.Context) (done results, err error) {
	defer func() { err = joinClose(err, r.attempts.Close()) }()
	stop := r.monitor.Start(r.progress)
	done, err = r.passes(ctx)
	stop()
	r.warnUnknownKeys()
	r.warnMisfits()
	if err == nil {
		err = r.warnOthers()
	}
	if r.refresh != nil && err == nil {
		err = r.refresh.End(r.store)
	}
	done.records, done.learned = r.total.Last(), r.limits.Learned().String()
	return done, joinClose(err, r.keepLearned())
}

func (r *running) passes(ctx context.Context) (done results, err error) {
	log := r.options.Log
	for kept := -1; ; {
		done, err = r.pass(ctx, kept)
		changed, isChanged := errors.AsType[*InputChangedError](err)
		switch {
		case isChanged && r.canReadAgain():
			kept = changed.Kept
			log.Warn("the input has changed in a part that was published: the parts before are kept, and the others are written anew", "part", changed.Part, "kept", changed.Kept)
		case err == cascade.ErrRaised: // not errors.Is: an error joined with ErrRaised ends the run
			failed := r.free.Raise()
			r.options.warnRaised(failed, r.free.Audit())
		default:
			return done, err
		}
		next, err := openPass(ctx, r.options.Input, nil)
		if err != nil {
			return done, interruptedBy(ctx, err)
		}
		if err := r.input.Swap(next).Close(); err != nil {
			return done, err
		}
		r.counters.Rewind()
	}
}

// pass runs the stages once over the present input. It keeps at most kept parts of an earlier start; a negative kept is no bound.
func (r *running) pass(ctx context.Context, kept int) (done results, err error) {
	o, input := &r.options, r.input.Load()
	a := *r.account
	stages, columns, err := carried(&o.Output, r.options.stages(a.Settings), input.Reader)
	a.Carried, a.Free = columns, r.audit(o)
	done = results{carried: columns, inputs: o.inputsOf(input.Reader), audit: a.Free}
	if err != nil {
		return done, err
	}
	stages.CheckCounts, stages.Judge, stages.Refresh, stages.Free, stages.FinishBy = r.checkCounts, r.judge(), r.refresh, r.free, a.FinishBy.Deadline()
	parts := flow.Parts{
		Source: input, Interrupt: input.end, Attempter: o.Service.Attempter, CloseIdle: o.Service.CloseIdle, Usage: r.quota.Ask,
		Store: r.store, Limits: r.limits, Attempts: r.attempts, Price: o.Price.Request, Each: o.Each, Log: o.Log, Counters: r.counters,
	}
	if o.Service.Hosted {
		parts.Monitor = r.monitor
	}
	if !o.noOutput {
		done.check = r.newCheck()
		if stages.Folder, err = o.Output.OpenFolder(r.out, &a, o.keeps(kept)); err != nil {
			return done, err
		}
		if o.Store.RefreshBudget > 0 {
			stages.Folder.KeepEnds()
		}
		if parts.Sink, err = o.Output.Open(r.out, stages.Schema, output.Metadata(a.Settings), stages.Folder, func() { r.changed.Store(true) }, done.check.function(ctx)); err != nil {
			return done, err
		}
	}
	done.published, err = flow.Run(ctx, parts, stages)
	done.inputs, done.audit = o.inputsOf(input.Reader), r.audit(o)
	return done, err
}

// keeps returns the function that says which parts of an earlier start are kept: at most most parts, unless most is negative. The
// function is called for each part in order, until it returns false.
func (o *Options) keeps(most int) func(account.Statuses) bool {
	parts := 0
	return func(statuses account.Statuses) bool {
		parts++
		return (most < 0 || parts <= most) && o.Store.keeps(statuses)
	}
}

// judge returns the function that stops the run early; nil unless Expect.Stop is set. The function gets the statuses of the
// first records, in the order of the records.
func (r *running) judge() func(account.Statuses) error {
	o := &r.options
	if !o.Expect.Stop || o.Offline {
		return nil
	}
	early := expect.NewEarly(o.Expect.List)
	return func(first account.Statuses) error {
		all := int64(0)
		if o.Shard.Count == 0 { // the records of a shard are not counted
			all = r.total.Counted() * int64(len(o.Classifications))
		}
		err := early.Check(first, all)
		if _, broken := errors.AsType[*expect.BrokenError](err); broken {
			return &StopError{Cause: account.Expectation, Err: err}
		}
		return err
	}
}

// warnRaised warns of an audit that has failed.
func (o *Options) warnRaised(failed, next account.Audit) {
	log := o.Log.With("differ", failed.Disagreed, "audited", failed.Sample, "threshold", failed.Threshold)
	if next.Step == 0 {
		log.Warn("the service agrees with too few of the free answers, however sure the model is: everything is asked")
		return
	}
	log.Warn("the service agrees with too few of the free answers: the model answers only where it is surer, and the others are asked", "new_threshold", next.Threshold)
}

// warnMisfits warns of values that are null only in the output.
func (r *running) warnMisfits() {
	first := r.counters.FirstMisfit.Load()
	if first == nil {
		return
	}
	r.options.Log.Warn("some values do not fit the types of their columns, and are null in the output; CSV and JSONL keep them",
		"values", r.counters.Misfits.Load(), "first", first.Place, "column", first.Column.Name,
		"type", first.Column.Type, "value", figures.Clipped(first.Value, mostShown))
}

// warnOthers warns of files in the output folder that no run has written. They stay, as everything that a user gave us.
func (r *running) warnOthers() error {
	if !r.options.Output.IsFolder() {
		return nil
	}
	folder, err := readback.ListFolder(r.out, disk.Clean(r.options.Output.Path))
	if err != nil || len(folder.Others) == 0 {
		return err
	}
	r.options.Log.Warn("the output folder has files that no run has written: a program that reads the folder may read them, too",
		"files", len(folder.Others), "first", folder.Others[0])
	return nil
}

// warnUnknownKeys warns of members of JSON objects that came too late to become columns.
func (r *running) warnUnknownKeys() {
	if names, records := r.input.Load().UnknownKeys(); records > 0 {
		r.options.Log.Warn("no column carries some members of records, because the beginning of the input does not have them: name them in the option carry",
			"members", strings.Join(names, ","), "records", records)
	}
}

// countedBytes bounds the size of inputs that are read a second time to count their records: this takes some seconds of a
// processor.
const countedBytes = 1 << 30

// startCount counts the records of local files in the background, until stop is called. It does nothing if the plan has counted
// the records.
func (r *running) startCount(ctx context.Context) (stop func()) {
	o := r.options.Input
	_, bytes := r.opened.input.Progress()
	isRemote := func(path string) bool { return path == "-" || storage.IsURL(path) }
	if r.total.Counted() > 0 || bytes <= 0 || bytes > countedBytes || r.options.Sample > 0 || slices.ContainsFunc(o.Paths, isRemote) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var counting sync.WaitGroup
	counting.Go(func() {
		if n, ok := countRecords(ctx, o, r.options.Limit); ok {
			r.total.Set(n)
		}
	})
	return func() {
		cancel()
		counting.Wait()
	}
}

// countRecords counts the records up to a limit; a limit of 0 is none. It returns false if ctx ends or the input cannot be read:
// the run reports the error.
func countRecords(ctx context.Context, o reader.Options, limit int64) (n int64, ok bool) {
	input, err := reader.Open(ctx, inputsAgain(o))
	if err != nil {
		return 0, false
	}
	defer input.Close() // only read from
	for ctx.Err() == nil {
		if limit > 0 && n == limit {
			return n, true
		}
		if _, err := input.Read(); err != nil {
			return n, err == io.EOF
		}
		n++
	}
	return 0, false
}

// progress returns the progress of the run.
func (r *running) progress() progress.Progress {
	read, bytes := r.input.Load().Progress()
	status := r.limits.Status()
	p := progress.New(r.account, r.counters.Snapshot(), account.Asking, time.Time{})
	p.Follow(status, r.counters.LastError.Load(), r.bounds.MaxOutage)
	p.Cost = r.account.CostOf(p.Counts)
	p.Quota = r.quota.Left(!r.options.isOffline()) // a run that asks nothing asks for no quota either
	p.Total, p.About = r.total.Of(&p.Counts, read, bytes, r.options.Limit)
	if r.options.Sample > 0 && p.Counts.Others > 0 { // the sample is drawn
		p.Total, p.About = r.options.Sample, false
	}
	r.estimator.Estimate(&p, status, r.bounds, r.account.FinishBy.Deadline())
	p.Foresee()
	return p
}
