package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/cascade"
	"github.com/bulkcat/bulkcat/pipeline/flow"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// FreeOptions say which requests a model answers for nothing, instead of the hosted service: see package cascade.
type FreeOptions struct {
	Model     *learn.Model // made of answers of the service, or of labels; nil for none
	Precision float64      // the share of the free answers that is to agree with the service; default 0.95
	Audit     float64      // the share of the free requests that is asked, too, from 0 to 1; 0 for no audit
}

// defaultPrecision is that of FreeOptions: labels of people agree about as often.
const defaultPrecision = 0.95

// source is the source of the model's answers, in the form of that of the embedded service with the model.
func (o *FreeOptions) source() string { return "embedded+" + o.Model.Fingerprint() }

// checkFree finds options that cannot be used with a model that answers for nothing.
func (o *SessionOptions) checkFree(refuse func(wrong bool, option, format string, args ...any)) {
	free := &o.Free
	if free.Model == nil {
		return
	}
	refuse(o.Service.Categorizer != nil && !o.Service.Hosted, "Free.Model", "the embedded service costs nothing: let it answer with the model, or name a hosted service")
	refuse(free.Model.Pages > 0, "Free.Model", "it was learned with the pages of %d websites, which a hosted service reads in place of bulkcat: learn it without pages", free.Model.Pages)
	refuse(!(free.Precision >= 0 && free.Precision < 1), "Free.Precision", "%v must be above 0 and below 1: no sample shows that all answers agree", free.Precision)
	refuse(!(free.Audit >= 0 && free.Audit <= 1), "Free.Audit", "%v must be from 0 to 1", free.Audit)
	isAsked := len(o.Classifications) == 0 || slices.Contains(o.Classifications, free.Model.Classification)
	refuse(free.Model.Kind != o.Kind || !isAsked, "Free.Model", "it is a model of %ss and of %s, which is not asked for", free.Model.Kind, free.Model.Classification)
	refuse(o.Shard.Count > 0, "Free.Model", "a shard has too few of the records for an audit of its own: run without shards")
	refuse(o.readsStdin(), "Free.Model", "the input is read twice, and standard input can be read once: name a file")
	refuse(o.Input.Records != nil, "Free.Model", "the input is read twice, and Input.Records are read once: name a file")
	refuse(o.Store.RefreshBudget > 0, "Free.Model", "stored answers that are asked again would change the audit: refresh them in a run without the model")
	refuse(free.Audit > 0 && (o.Output.Path == "-" || o.Each != nil), "Free.Model", "rows that are free at first may be asked after the audit, and a stream cannot be taken back: write to a file, or do without the audit")
}

// newFree makes the cascade of the run; nil without a model, and if the model does not reach the precision: see unreached. The
// caller closes the cascade.
func (s *Session) newFree(store *answers.Store) (*cascade.Cascade, error) {
	o := &s.options
	if o.Free.Model == nil {
		return nil, nil
	}
	threshold, ok := o.Free.Model.Sure(o.Free.Precision)
	if !ok {
		s.warnUnfree(s.unreached())
		return nil, nil
	}
	if o.Free.Audit == 0 {
		o.Log.Warn("the free answers are not audited: nothing shows how often they agree with the service")
	}
	custom := []*taxonomy.Taxonomy(nil)
	if own := o.Free.Model.Custom(""); own != nil {
		custom = append(custom, &own.Taxonomy)
	}
	model := embedded.New(embedded.Options{Models: []*learn.Model{o.Free.Model}, Custom: custom, Logger: o.Log})
	account := s.account
	if account == nil { // before the run
		account = s.newAccount()
	}
	requests := record.Account{Settings: account.Settings.OfRequests()} // those of another service have another store or source
	return cascade.Begin(store, cascade.Options{
		Run: requests.RunID(), Model: model, Source: o.Free.source(), Classification: o.Free.Model.Classification,
		Threshold: threshold, Precision: o.Free.Precision, Audit: o.Free.Audit, MaxAge: o.Store.MaxAge, Offline: o.Offline,
	}, time.Now())
}

// unreached says that the model does not reach the precision.
func (s *Session) unreached() *record.Audit {
	return &record.Audit{Source: s.options.Free.source(), Precision: s.options.Free.Precision, Cause: record.Unreached}
}

// warnUnfree says why nothing is free.
func (s *Session) warnUnfree(a *record.Audit) {
	s.options.Log.Warn("no answer is free", "reason", a.String())
}

// planFree plans the cascade, in one or two passes over the input, and gives the forecast of the run.
func (s *Session) planFree(ctx context.Context, c *cascade.Cascade, store *answers.Store, options flow.Options) (flow.Forecast, error) {
	for {
		f, err := s.forecastAgain(ctx, store, options, c.Offer)
		if err != nil {
			return f, err
		}
		again, err := c.Plan(f.Digest)
		if err != nil {
			return f, err
		}
		if again {
			continue
		}
		audit := c.Audit()
		if audit.Step == 0 {
			s.warnUnfree(&audit)
			return f, nil
		}
		f.Free, f.AtRisk, f.Audit = c.Free(), c.AtRisk(), audit.Missing
		return f, nil
	}
}

// startFree plans which requests the model answers for nothing.
func (s *Session) startFree(ctx context.Context, store *answers.Store, options *flow.Options, account *record.Account) (err error) {
	c, err := s.newFree(store)
	if err != nil {
		return err
	}
	if c == nil {
		if s.options.Free.Model != nil {
			account.Free = s.unreached()
		}
		return nil
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	f, err := s.planFree(ctx, c, store, *options)
	if err != nil {
		return err
	}
	if err := c.Save(store); err != nil {
		return err
	}
	s.free, options.Free = c, c
	s.stateFree(account)
	if f.Free > 0 {
		s.options.Log.Info("the model answers the requests of which it is sure, and these cost nothing", "requests", f.Free, "threshold", account.Free.Threshold, "audited", account.Free.Sample)
	}
	return nil
}

// stateFree puts into the account how the run answers for nothing.
func (s *Session) stateFree(account *record.Account) {
	if s.free != nil {
		audit := s.free.Audit()
		account.Free = &audit
	}
}

// passes runs the engine, and once more from the first record on when the audit of the free answers has failed, or when the
// input is not that of the kept parts.
func (s *Session) passes(ctx, out context.Context, account *record.Account, parts flow.Parts, options flow.Options) (published writer.Published, err error) {
	for {
		published, err = flow.Run(ctx, parts, options)
		s.stateFree(account)
		changed, isChanged := errors.AsType[*InputChangedError](err)
		switch {
		case isChanged && !s.options.readsOnce():
			s.keepParts = &changed.Kept
			s.options.Log.Warn("the input has changed in a part that was published: the parts before are kept, and the others are written anew", "part", changed.Part, "kept", changed.Kept)
		case err == cascade.ErrRaised: // an error beside it has another cause
			failed := s.free.Raise()
			s.stateFree(account)
			s.warnRaised(failed, *account.Free)
		default:
			return published, err
		}
		stop, err := s.readAgain(ctx, &parts)
		if err != nil {
			return published, err
		}
		defer stop()
		s.counters.Rewind()
		if err := s.carry(account, &options); err != nil {
			return published, err
		}
		if err := s.openOutput(ctx, out, account, &parts, &options); err != nil {
			return published, err
		}
	}
}

// warnRaised warns of an audit that has failed.
func (s *Session) warnRaised(failed, next record.Audit) {
	log := s.options.Log.With("differ", failed.Disagreed, "audited", failed.Sample, "threshold", failed.Threshold)
	if next.Step == 0 {
		log.Warn("the service agrees with too few of the free answers, however sure the model is: everything is asked")
		return
	}
	log.Warn("the service agrees with too few of the free answers: the model answers only where it is surer, and the others are asked", "new_threshold", next.Threshold)
}

// readAgain opens the input for a further pass. The function ends its reads.
func (s *Session) readAgain(ctx context.Context, parts *flow.Parts) (stop context.CancelFunc, err error) {
	o := s.options.Input
	o.Context, stop = context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, stop)()
	input, err := reader.Open(o)
	if err != nil {
		stop()
		return nil, causeOf(ctx, err)
	}
	parts.Source, parts.Interrupt = input, stop
	return stop, s.input.Swap(input).Close()
}

// AllModels are the models that decide what is asked for by default: see DefaultClassifications.
func (o *SessionOptions) AllModels() []*learn.Model {
	if o.Free.Model == nil {
		return o.Models
	}
	return append(slices.Clone(o.Models), o.Free.Model)
}
