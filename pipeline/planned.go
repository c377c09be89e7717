package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/attempts"
	"github.com/bulkcat/bulkcat/pipeline/internal/cascade"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/internal/refresh"
	"github.com/bulkcat/bulkcat/reader"
)

// planned is a run with its plan and its limits.
type planned struct {
	*claimed
	plan
	bounds   limits.Options // of this run, or of this shard
	limits   *limits.Controller
	attempts *attempts.Log // nil for none
}

// plan is the result of one pass over the input before the first request. The pass reads only a part of the input if no observer
// needs all records.
type plan struct {
	forecast Forecast // zero unless whole
	whole    bool
	refresh  *refresh.Refresh // the stored answers to be asked again; nil for none
	free     *cascade.Cascade // nil unless a model answers for free
}

// plan makes the plan of the run, after it has asked for the quota.
func (c *claimed) plan(ctx context.Context) (_ *planned, err error) {
	p := &planned{claimed: c}
	if c.spool != nil {
		if err := c.spool.Keep(); err != nil {
			return nil, err
		}
	}
	if d := c.account.FinishBy; d != nil && !c.options.isOffline() && !time.Now().Before(d.At) {
		return nil, &StopError{Cause: account.Deadline, Err: &account.PassedError{FinishBy: *d}}
	}
	if !c.options.isOffline() {
		if err := c.quota.Check(ctx, c.store, c.options.Service.Name); err != nil {
			return nil, err
		}
	}
	if path := c.options.Requests; path != "" {
		if p.attempts, err = attempts.Open(path, c.account.RunID(), c.options.Output.Overwrite); err != nil {
			return nil, &OptionError{Option: "Requests", Err: err}
		}
		defer func() {
			if err != nil {
				err = joinClose(err, p.attempts.Close())
			}
		}()
	}
	if p.plan, err = c.look(ctx, c.account, c.store, nil); err != nil {
		return nil, interruptedBy(ctx, err)
	}
	if err := p.begin(); err != nil {
		return nil, err
	}
	if !c.options.isOffline() {
		p.tellQuota()
	}
	var stated float64
	p.bounds, stated = c.shareLimits()
	if p.limits, err = c.newLimits(p.bounds, stated); err != nil {
		return nil, err
	}
	return p, nil
}

// begin makes the plan durable, so that the next start continues it.
func (p *planned) begin() error {
	log := p.options.Log
	if p.refresh != nil {
		log.Info("stored answers are asked again", "answers", p.refresh.Left())
		if err := p.refresh.Start(p.store); err != nil {
			return err
		}
	}
	if p.free == nil {
		return nil
	}
	if audit := p.free.Audit(); p.free.Free() > 0 {
		log.Info("the model answers the requests of which it is sure, and these cost nothing", "requests", p.free.Free(), "threshold", audit.Threshold, "audited", audit.Sample)
	}
	return p.free.Save(p.store)
}

// audit returns the account of the free answers; nil without a model.
func (p *plan) audit(o *Options) *account.Audit {
	switch {
	case p.free != nil:
		audit := p.free.Audit()
		return &audit
	case o.Free.Model != nil:
		return o.Free.unreached()
	}
	return nil
}

// look makes the plan in one pass over the input. A dry run passes its input as dry, and always gets a forecast. Other runs open
// the input a second time, if the refresh, the free answers, the quota or other stores need the requests. The store may be nil.
func (o *opened) look(ctx context.Context, a *account.Account, store *answers.Store, dry *pass) (p plan, err error) {
	options := o.options.requests()
	var observers []func([]answers.Query) error
	if budget := o.options.Store.RefreshBudget; budget > 0 && store != nil && !o.options.isOffline() {
		if p.refresh, err = refresh.Begin(store, a.RunID(), budget, time.Now()); err != nil {
			return p, err
		}
		observers = append(observers, p.refresh.Offer)
	}
	if p.free, err = o.options.newFree(a.Settings, store); err != nil {
		return p, err
	}
	if p.free != nil {
		defer func() { err = errors.Join(err, p.free.Close()) }()
		observers = append(observers, p.free.Offer)
	}
	p.whole = dry != nil || len(observers) > 0 || !o.options.isOffline() && o.mayExceedQuota()
	others := o.otherStores()
	if len(others.paths) > 0 {
		observers = append(observers, others.offer)
		if !p.whole && options.Sample == 0 { // a sample is drawn from all records
			options.Limit = firstOf(options.Limit, lookedUpElsewhere)
		}
	}
	if !p.whole && len(observers) == 0 {
		return p, nil
	}
	parts := flow.Parts{Store: store}
	if dry != nil {
		parts.Source, parts.Counters = dry, o.counters
	} else {
		input, err := openPass(ctx, inputsAgain(o.options.Input), nil)
		if err != nil {
			return p, err
		}
		defer input.Close() // only read from
		defer context.AfterFunc(ctx, input.end)()
		parts.Source = input
	}
	f, err := flow.NewForecast(ctx, parts, options, func(made []answers.Query) error {
		for _, observe := range observers {
			if err := observe(made); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return p, causeOf(ctx, err)
	}
	others.warn(o.options.Log)
	if !p.whole {
		return p, nil
	}
	if p.free != nil {
		if err := p.free.Plan(f.Digest); err != nil {
			return p, err
		}
		if audit := p.free.Audit(); audit.Step == 0 {
			o.options.Log.Warn("no answer is free", "reason", audit.String())
		} else {
			f.Free, f.AtRisk, f.Audit = p.free.Free(), p.free.AtRisk(), audit.Missing
		}
	}
	f.Refresh = p.refresh.Left()
	p.forecast = f
	return p, nil
}

// firstOf returns the lower of limit and first. A limit of 0 is no limit.
func firstOf(limit, first int64) int64 {
	if limit == 0 {
		return first
	}
	return min(limit, first)
}

// inputsAgain returns the options of a further pass over the inputs. The pass needs no carried columns, and logs nothing: the
// first pass logs the warnings.
func inputsAgain(o reader.Options) reader.Options {
	o.InputsOnly, o.Log = true, nil
	return o
}

// leastBytes is the length of the shortest record of a text file, with the end of its line.
const leastBytes = 2

// mayExceedQuota reports whether the requests have to be counted before the run: the service states a quota, the input can be
// read twice, and neither the size of the input nor a limit shows that the quota is enough.
func (o *opened) mayExceedQuota() bool {
	left, isNumber := o.quota.Usage().Requests()
	if !isNumber || !o.canReadAgain() {
		return false
	}
	_, bytes := o.input.Progress()
	files := o.input.Files()
	most := (bytes + int64(len(files))) / leastBytes // the last record of a file may have no end of its line
	if slices.ContainsFunc(files, func(f reader.FileInfo) bool {
		return f.Packed || !slices.Contains([]string{"csv", "jsonl", "txt"}, f.Format)
	}) {
		most = math.MaxInt64
	}
	most = firstOf(o.options.Sample, firstOf(o.options.Limit, most))
	return most > left/int64(len(o.options.Classifications))
}

// canReadAgain reports whether the input can be read a second time.
func (o *opened) canReadAgain() bool {
	_, bytes := o.input.Progress()
	return bytes >= 0 && !o.options.readsStdin() && o.options.Input.Records == nil
}

// lookedUpElsewhere is how many requests are looked up in other stores: enough to find a useful store, and done in a moment.
const lookedUpElsewhere = 10_000

// elsewhere are other stores, which may have answers that the run would pay for.
type elsewhere struct {
	stored  answers.Options
	paths   []string
	seen    int
	missing map[client.Request]bool // of the first requests, those without a stored outcome
}

func (o *opened) otherStores() *elsewhere {
	stored, err := o.options.stored()
	e := &elsewhere{stored: stored, missing: make(map[client.Request]bool)}
	if err == nil && o.options.Service.Hosted && !o.options.isOffline() && o.canReadAgain() { // opening the store reports the error
		e.paths = slices.DeleteFunc(slices.Clone(o.options.Store.Others), func(other string) bool { return other == stored.Path })
	}
	return e
}

func (e *elsewhere) offer(made []answers.Query) error {
	for _, q := range made[:min(len(made), lookedUpElsewhere-e.seen)] {
		e.seen++
		if !q.Found {
			e.missing[q.Request] = true
		}
	}
	return nil
}

// warn warns if another store has answers that the run would pay for.
func (e *elsewhere) warn(log *slog.Logger) {
	best, has, other := "", 0, e.stored
	other.Exclusive = false
	for _, path := range e.paths {
		other.Path = path
		if n := countStored(other, e.missing); n > has {
			best, has = path, n
		}
	}
	if has > 0 {
		do := "name it, or import it with 'bulkcat store import'"
		if e.stored.Exclusive { // the store of a shard
			do = "import it with 'bulkcat store import --store " + e.stored.Path + " " + best + "'"
		}
		log.Warn("another store has answers that are to be paid for: "+do,
			"option", "pipeline.Store.Path", "store", best, "has", fmt.Sprintf("%d of the first %d", has, len(e.missing)))
	}
}

// countStored returns the number of requests with a stored outcome; 0 if the store cannot be read.
func countStored(o answers.Options, requests map[client.Request]bool) (n int) {
	if len(requests) == 0 {
		return 0
	}
	o.ReadOnly = true
	store, err := answers.Open(o)
	if err != nil {
		return 0
	}
	defer store.Close() // only read from
	queries := make([]answers.Query, 0, len(requests))
	for r := range requests {
		queries = append(queries, answers.Query{Request: r})
	}
	if err := store.LookupAll(queries); err != nil {
		return 0
	}
	for _, q := range queries {
		if q.Found {
			n++
		}
	}
	return n
}
