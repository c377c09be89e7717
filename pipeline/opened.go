package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/internal/stdin"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// opened is a run with its lock and its input. It has asked nothing and written nothing.
type opened struct {
	options  Options          // with their defaults
	objects  *storage.Objects // of the paths that are URLs
	lock     *disk.Lock       // on the output; nil for standard output
	spool    *stdin.Spool     // nil unless standard input is a pipe that is kept
	input    *pass            // the first pass
	standing *client.Standing // of the service
	counters *progress.Counters
	quota    *progress.Quota
	began    time.Time
}

// newOpened completes the options. Nothing is open yet.
func newOpened(options Options, objects *storage.Objects) *opened {
	o := &opened{options: options.withDefaults().inShard(), objects: objects, counters: new(progress.Counters), began: time.Now()}
	o.options.Input.Storage, o.options.Input.IsOutput = objects, IsOutput
	service := &o.options.Service
	o.standing, service.Attempter, service.Usage = client.Observe(service.Attempter, service.Usage)
	o.options.shareQuota()
	if options.Details {
		o.counters.GatherDetails()
	}
	o.quota = progress.NewQuota(o.standing, service.Usage, service.Hosted, o.options.Log)
	return o
}

// open locks the output, and opens the input.
func (o *opened) open(ctx context.Context) (err error) {
	if out := &o.options.Output; out.Path != "-" {
		if err := out.CheckStream(); err != nil {
			return err
		}
		if err := o.options.makeFolder(); err != nil {
			return err
		}
		if o.lock, err = storage.TryLock(out.Path); err != nil {
			return err
		}
	}
	if o.spool, err = newSpool(ctx, &o.options, o.lock); err != nil {
		return err
	}
	return o.openInput(ctx)
}

// openInput opens the first pass over the input, which may read a pipe.
func (o *opened) openInput(ctx context.Context) (err error) {
	in := &o.options.Input
	var interrupt func()
	switch {
	case o.spool != nil:
		interrupt = o.spool.Interrupt
	case o.options.readsStdin() && !isRegular(in.Stdin):
		pump := stdin.NewPump(in.Stdin)
		in.Stdin, interrupt = pump, pump.Interrupt
	}
	if o.input, err = openPass(ctx, *in, interrupt); err != nil {
		return err
	}
	o.options.Output.Resolve(o.input.Reader)
	return o.checkAgain()
}

// checkAgain refuses options that need a further pass, which would take the records of a pipe from the run.
func (o *opened) checkAgain() error {
	option := ""
	switch {
	case o.canReadAgain():
	case o.options.Free.Model != nil:
		option = "Free.Model"
	case o.options.Store.RefreshBudget > 0 && !o.options.isOffline():
		option = "Store.RefreshBudget"
	}
	if option == "" {
		return nil
	}
	return &OptionError{Option: option, Err: errors.New("the input is read twice, and a pipe can be read once: name a file")}
}

// pass is one reading of the input.
type pass struct {
	*reader.Reader
	stop      context.CancelFunc // cancels reads from object storage
	interrupt func()             // interrupts a read that waits for a pipe; nil without a pipe
}

// openPass opens the input. The end of ctx interrupts openPass, but not later reads of the pass: see end.
func openPass(ctx context.Context, o reader.Options, interrupt func()) (*pass, error) {
	p := &pass{interrupt: interrupt}
	reads, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.stop = stop
	defer context.AfterFunc(ctx, p.end)()
	input, err := reader.Open(reads, o)
	if err != nil {
		p.stop()
		return nil, causeOf(ctx, err)
	}
	p.Reader = input
	return p, nil
}

// end interrupts reads that wait for a pipe or for object storage.
func (p *pass) end() {
	p.stop()
	if p.interrupt != nil {
		p.interrupt()
	}
}

// isEmpty reports whether the input has no records. It waits for the first record until ctx ends.
func (p *pass) isEmpty(ctx context.Context) bool {
	defer context.AfterFunc(ctx, p.end)()
	return p.Empty()
}

// Close closes the input; it does nothing for nil.
func (p *pass) Close() error {
	if p == nil {
		return nil
	}
	p.stop()
	return p.Reader.Close()
}

// causeOf returns the cause of ctx if err is that of an interrupted read. Other errors are returned as they are.
func causeOf(ctx context.Context, err error) error {
	if errors.Is(err, reader.ErrInterrupted) || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}

// interruptedBy makes the end of ctx an interruption of the run, which is resumable. Other errors are returned as they are.
func interruptedBy(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return &StopError{Cause: account.Interrupted}
	}
	return err
}

// carried adds the carried columns of an input to the options of the stages.
func carried(o *OutputOptions, s flow.Options, input *reader.Reader) (flow.Options, []account.Carried, error) {
	var err error
	s.Carry, s.Schema.Carry, s.Schema.CarryTypes, err = o.Carried(input)
	return s, output.CarriedBy(s.Schema), err
}

// withDetails adds the details of the run with the account a to its status. learned describes the limits that the run has learned.
func (o *opened) withDetails(s account.Status, a *account.Account, learned string) account.Status {
	if s.Details = o.counters.Details(); s.Details == nil {
		return s
	}
	s.Details.Service, s.Details.Settings, s.Details.Learned = a.Service, a.Settings, learned
	for _, e := range a.Earlier {
		s.Details.Earlier = append(s.Details.Earlier, account.EarlierStart{Started: e.Started, Ended: e.Ended, Ending: e.Ending, Requests: e.Counts.Requests})
	}
	return s
}
