package pipeline

import (
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/cascade"
)

// FreeOptions say which requests a model answers for free, instead of the hosted service: see package cascade.
type FreeOptions struct {
	Model     *learn.Model // learned from answers of the service, or from labels; nil for none
	Precision float64      // the required share of the free answers that agree with the service; default 0.95
	Audit     float64      // the share of the free requests that is also asked, from 0 to 1; 0 for no audit
}

// defaultPrecision is the default of FreeOptions.Precision: labels of people agree about as often.
const defaultPrecision = 0.95

// source returns the source of the model's answers: the source of the embedded service with the model.
func (o *FreeOptions) source() string { return "embedded+" + o.Model.Fingerprint() }

// checkFree finds options that cannot be used with a model that answers for free.
func (o *Options) checkFree(refuse func(wrong bool, option, format string, args ...any)) {
	free := &o.Free
	if free.Model == nil {
		return
	}
	refuse(o.Service.Attempter != nil && !o.Service.Hosted, "Free.Model", "the embedded service costs nothing: let it answer with the model, or name a hosted service")
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

// newFree begins the cascade of the run with these settings; nil without a model, or if the model does not reach the precision:
// see unreached. The caller closes the cascade.
func (o *Options) newFree(run account.Settings, store *answers.Store) (*cascade.Cascade, error) {
	if o.Free.Model == nil {
		return nil, nil
	}
	threshold, ok := o.Free.Model.Sure(o.Free.Precision)
	if !ok {
		o.Log.Warn("no answer is free", "reason", o.Free.unreached().String())
		return nil, nil
	}
	if o.Free.Audit == 0 {
		o.Log.Warn("the free answers are not audited: nothing shows how often they agree with the service")
	}
	var custom []*taxonomy.Custom
	if own := o.Free.Model.Custom(""); own != nil {
		custom = append(custom, own)
	}
	model := embedded.New(embedded.Options{Models: []*learn.Model{o.Free.Model}, Custom: custom, Logger: o.Log})
	requests := account.Account{Settings: run.OfRequests()} // without the service, which has its own store or source
	return cascade.Begin(store, cascade.Options{
		Run: requests.RunID(), Model: model, Source: o.Free.source(), Classification: o.Free.Model.Classification,
		Threshold: threshold, Precision: o.Free.Precision, Audit: o.Free.Audit, MaxAge: o.Store.MaxAge, Offline: o.Offline,
	}, time.Now())
}

// unreached returns the audit of a model that does not reach the precision.
func (o *FreeOptions) unreached() *account.Audit {
	return &account.Audit{Source: o.source(), Precision: o.Precision, Cause: account.Unreached}
}

// AllModels returns the models that decide the default classifications: see DefaultClassifications.
func (o *Options) AllModels() []*learn.Model {
	if o.Free.Model == nil {
		return o.Models
	}
	return append(slices.Clone(o.Models), o.Free.Model)
}
