package gateway

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/internal/memory"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/money"
)

// Options describe a Gateway. All fields but MaxAge and Ledger are required.
type Options struct {
	Upstream client.Categorizer
	Usage    func(context.Context) (client.Usage, error) // of the upstream's key
	Store    *answers.Store                              // its source is the upstream
	Limits   limits.Options                              // of the upstream; New sets all that is learned, and WaitForQuota
	Retry    client.RetryPolicy                          // of attempts at the upstream
	MaxAge   time.Duration                               // an older answer is asked for again; 0 for any age
	Price    money.Price                                 // of an attempt at the upstream; zero if unknown
	Grants   []embedded.Grant                            // the colleagues' keys; their quotas count paid answers
	Ledger   *embedded.Ledger                            // of the paid answers; nil for none
	Logger   *slog.Logger
}

// Gateway answers from the store, and asks the upstream for the rest.
type Gateway struct {
	options Options
	log     *slog.Logger
	limits  *limits.Controller
	service *embedded.Service
	metrics metrics
	bodies  *memory.Pool // memory of long answers that clients read

	waker   *ask.Waker // of the dispatcher
	commits chan *call // answered or rejected
	asking  sync.WaitGroup
	stopped chan struct{} // closed when no call ends any more

	used    atomic.Bool                  // the upstream's quota is used up for good
	fits    atomic.Bool                  // the upstream has given an answer of the expected shape
	misfits atomic.Int64                 // its answers of another shape before that
	usage   atomic.Pointer[client.Usage] // of the upstream, as told last
	lastErr atomic.Pointer[client.Error] // of a failed attempt
	noted   []byte                       // the content of the ledger that is in the store

	mu     sync.Mutex
	calls  map[client.Request]*call
	queue  fairQueue         // calls that have not been asked
	parked ask.Parked[*call] // calls that wait for a retry
	failed failures
	down   chan struct{} // closed during an outage
}

// commitsQueued outcomes may wait for the commit before.
const commitsQueued = 1024

// New returns a gateway. It asks the upstream for its quota. The only error of that is a wrong API key:
// an upstream that is out may come back. Other errors are those of the store.
func New(ctx context.Context, o Options) (*Gateway, error) {
	g := &Gateway{
		options: o, log: o.Logger,
		bodies: memory.New(allBodies), waker: ask.NewWaker(), commits: make(chan *call, commitsQueued), stopped: make(chan struct{}),
		calls: map[client.Request]*call{}, queue: newFairQueue(), failed: failures{}, down: make(chan struct{}),
	}
	usage, err := g.askUsage(ctx)
	switch {
	case err == nil:
	case client.ClassOf(err) == client.Auth, ctx.Err() != nil:
		return nil, err
	default:
		g.log.Warn("the upstream does not say how much quota is left", "error", err)
	}
	learned, storeErr := o.Store.Learned()
	if storeErr != nil {
		return nil, storeErr
	}
	l := o.Limits
	l.Trial, l.CanAsk, l.WaitForQuota, l.Learned = mostMisfits, err == nil || ask.QuotaOf(usage, err).Transient, true, learned
	if l.Rate > 0 { // the operator's rate is used from the start
		l.Learned.Rate = 0
	}
	g.limits = limits.New(l, time.Now())
	g.service = embedded.New(embedded.Options{Plan: cmp.Or(usage.Plan, "gateway"), Grants: o.Grants, Ledger: o.Ledger, Backend: g, Logger: o.Logger})
	g.log.Info("the gateway asks the upstream", "quota", usage.Remaining)
	return g, nil
}

// Serve answers on a listener until ctx ends. Requests that wait then get the grace period; calls that
// are being asked end, and their answers are stored. The error is that of the listener, the store or the
// ledger.
func (g *Gateway) Serve(ctx context.Context, listener net.Listener, options embedded.ServerOptions, grace time.Duration) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var group errgroup.Group
	group.Go(func() error {
		defer end()
		return g.service.Serve(serving, listener, options, grace)
	})
	group.Go(func() error {
		defer stop() // the store has failed
		return g.Run(running)
	})
	return group.Wait()
}

// Run asks the upstream and commits its answers until ctx ends. Calls that are being asked then end.
// The error is that of the store.
func (g *Gateway) Run(ctx context.Context) error {
	group, hard := errgroup.WithContext(context.WithoutCancel(ctx))
	soft, stop := context.WithCancel(hard)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	defer close(g.stopped)
	group.Go(func() error {
		g.dispatch(soft, hard)
		g.asking.Wait()
		close(g.commits)
		return nil
	})
	group.Go(g.commit)
	group.Go(func() error { return g.watch(soft) })
	if err := group.Wait(); err != nil {
		return err
	}
	return g.noteUsed()
}

const (
	watchEvery   = 10 * time.Second // a kill loses at most what was learned in that time
	usageEvery   = time.Minute
	usageTimeout = 10 * time.Second
)

// watch keeps what was learned of the upstream, and asks for the upstream's quota for the metrics.
func (g *Gateway) watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var kept answers.Learned
	asked := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if learned := g.limits.Learned(); learned != kept {
			if err := g.options.Store.KeepLearned(learned); err != nil {
				return err
			}
			kept = learned
		}
		if time.Since(asked) >= usageEvery {
			asked = time.Now()
			if err := g.noteUsed(); err != nil {
				return err
			}
			_, _ = g.askUsage(ctx) // the metrics keep the older figure
		}
	}
}

// usedNote is the note in the store that has the content of the ledger. Copies of the store have it, and not the ledger.
const usedNote = "used quota"

// noteUsed keeps the content of the ledger in the store if it has changed.
func (g *Gateway) noteUsed() error {
	if g.options.Ledger == nil {
		return nil
	}
	content := g.options.Ledger.Content()
	if bytes.Equal(content, g.noted) {
		return nil
	}
	g.noted = content
	batch := g.options.Store.NewBatch()
	batch.AddNote(usedNote, content)
	return batch.Commit()
}

// NotedLedger returns the content of the ledger that a gateway with the store had, up to the last minute; nil for none.
func NotedLedger(store *answers.Store) ([]byte, error) { return store.Note(usedNote) }

// askUsage asks for the upstream's quota.
func (g *Gateway) askUsage(ctx context.Context) (client.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, usageTimeout)
	defer cancel()
	usage, err := g.options.Usage(ctx)
	if err == nil {
		g.usage.Store(&usage)
	}
	return usage, err
}

// mostMisfits answers of another shape, and none of the expected shape, show that the settings are wrong. As many
// requests are in flight before the first answer.
const mostMisfits = 3

// isUnusable reports whether the answers of the upstream do not fit. They are charged, so no more are asked for.
func (g *Gateway) isUnusable() bool { return !g.fits.Load() && g.misfits.Load() >= mostMisfits }

// Exhausted reports whether the upstream's quota is used up, up to the reserve.
func (g *Gateway) Exhausted() bool { return g.used.Load() || g.limits.Status().Empty }
