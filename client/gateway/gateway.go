package gateway

import (
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
	"github.com/bulkcat/bulkcat/client/internal/fair"
	"github.com/bulkcat/bulkcat/client/internal/memory"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/money"
)

// Options describe a Gateway. All fields but MaxAge are required.
type Options struct {
	Upstream client.Attempter
	Usage    func(context.Context) (client.Usage, error) // of the upstream's key
	Store    *answers.Store                              // its source is the upstream; it also keeps the usage of the keys
	Limits   limits.Options                              // of the upstream: rate, number in flight and reserve
	Retry    client.RetryPolicy                          // of attempts at the upstream
	MaxAge   time.Duration                               // an older answer is asked for again; 0 for any age
	Price    money.Price                                 // of an attempt at the upstream; zero if unknown
	Grants   []embedded.Grant                            // the colleagues' keys; their quotas count paid answers
	Logger   *slog.Logger
}

// Gateway answers from the store, and asks the upstream for the rest.
type Gateway struct {
	options   Options
	log       *slog.Logger
	standing  *client.Standing // of the upstream
	responses ask.Judge
	limits    *limits.Controller
	service   *embedded.Service
	metrics   metrics
	bodies    *memory.Pool // memory of long answers that clients read

	dispatcher *ask.Dispatcher[*call]
	commits    chan *call // answered or rejected
	asking     sync.WaitGroup
	asks       context.Context // of the attempts
	stopped    chan struct{}   // closed when no call ends any more
	broken     chan error      // takes the error of a lookup or a claim in the store, which ends Run

	lastErr atomic.Pointer[client.Error] // of a failed attempt
	changed chan struct{}                // holds a token if the condition of the upstream has changed
	doubted chan struct{}                // holds a token if a request has failed in a way that puts the key in doubt

	mu     sync.Mutex
	calls  map[client.Request]*call
	queue  fair.Queue[*call] // calls that have not been asked
	failed failures

	seen      condition     // of the upstream, as seen last
	since     time.Time     // when the upstream began to refuse
	refused   *client.Error // the upstream's refusal of the key; nil for none
	refusedAt time.Time
	check     time.Time // when the usage operation is asked next
	judged    int64     // charged answers of the upstream when the usage operation was asked last
}

// commitsQueued is the number of outcomes that may wait for the previous commit.
const commitsQueued = 1024

// New returns a gateway. It asks the upstream for its quota. An upstream that is out may come back, but a wrong API key is an
// error, and a reserve of a quota that the upstream does not tell, too. Other errors come from the store, such as
// answers.Locked if another gateway has it, and from [embedded.OpenLedger].
func New(ctx context.Context, o Options) (*Gateway, error) {
	if err := o.Store.LockNotes(); err != nil {
		return nil, err
	}
	ledger, err := embedded.OpenLedger(o.Store)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		options: o, log: o.Logger, metrics: newMetrics(),
		bodies: memory.New(allBodies), commits: make(chan *call, commitsQueued), stopped: make(chan struct{}), broken: make(chan error, 1),
		calls: map[client.Request]*call{}, failed: failures{}, changed: make(chan struct{}, 1), doubted: make(chan struct{}, 1), seen: condition{state: Up},
	}
	g.standing, g.options.Upstream, g.options.Usage = client.Observe(o.Upstream, o.Usage)
	usage, err := g.askUsage(ctx)
	asked := ask.QuotaOf(usage, err)
	switch {
	case err == nil:
	case client.ClassOf(err) == client.Auth, ctx.Err() != nil:
		return nil, err
	case o.Limits.KeepReserve && !asked.Transient:
		return nil, &limits.SpentError{Limit: limits.Reserve, Value: o.Limits.Reserve, Err: err}
	default:
		g.log.Warn("the upstream does not say how much quota is left", "error", err)
	}
	learned, storeErr := o.Store.Learned()
	if storeErr != nil {
		return nil, storeErr
	}
	l := o.Limits
	l.Trial, l.CanAsk, l.WaitForQuota, l.Learned = client.MostUnusable, err == nil || asked.Transient, true, learned
	l.MaxRequests, l.MaxOutage, l.Shards = 0, 0, 0
	now := time.Now()
	g.limits, g.check = limits.New(l, now), now.Add(checkLast)
	g.dispatcher = ask.NewDispatcher(front{g}, g.limits)
	g.service = embedded.New(embedded.Options{Plan: cmp.Or(usage.Plan, "gateway"), Grants: o.Grants, Ledger: ledger, Backend: g, Logger: o.Logger})
	g.log.Info("the gateway asks the upstream", "quota", usage.Remaining)
	return g, nil
}

// SetGrants accepts the colleagues' keys of the grants from now on, and no other keys. Calls go on.
func (g *Gateway) SetGrants(grants []embedded.Grant) { g.service.SetGrants(grants) }

// Serve answers on a listener until ctx ends. Requests that wait then get the grace period; calls that are being asked end, and
// their answers are stored. The error comes from the listener or the store.
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

// Run asks the upstream and commits its answers until ctx ends. Calls that are being asked then end. The error comes from the
// store.
func (g *Gateway) Run(ctx context.Context) error {
	group, hard := errgroup.WithContext(context.WithoutCancel(ctx))
	soft, stop := context.WithCancel(hard)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	defer close(g.stopped)
	g.asks = hard
	group.Go(func() error {
		err := g.dispatcher.Run(soft)
		g.asking.Wait()
		close(g.commits)
		return err
	})
	group.Go(g.commit)
	group.Go(func() error {
		select {
		case err := <-g.broken:
			return err
		case <-soft.Done():
			return nil
		}
	})
	group.Go(func() error { return g.watch(soft) })
	group.Go(func() error {
		g.logChanges(soft)
		return nil
	})
	return group.Wait()
}

// storeFailed ends Run, because every later call of the store returns the same error. It returns the refusal for clients.
func (g *Gateway) storeFailed(err error) error {
	select {
	case g.broken <- err:
	default: // Run ends already
	}
	return unavailable("the store of answers has failed")
}

const (
	watchEvery   = 10 * time.Second // a kill loses at most the knowledge of that time
	usageTimeout = 10 * time.Second
)

// watch stores the knowledge about the upstream (limits.Learned), and asks the usage operation: from time to time, and when the
// key is in doubt or refused.
func (g *Gateway) watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var kept limits.Learned
	for {
		check := time.NewTimer(time.Until(g.nextCheck()))
		doubted := false
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if learned := g.limits.Learned(); learned != kept {
				if err := g.options.Store.KeepLearned(learned); err != nil {
					return err
				}
				kept = learned
			}
			continue
		case <-g.doubted:
			doubted = true
		case <-check.C:
		}
		check.Stop()
		usage, err := g.askUsage(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if mended := g.judge(time.Now(), err, doubted); mended && g.limits.Status().State != limits.Up {
			g.dispatcher.Report(g.limits.ReportQuota(time.Now(), ask.QuotaOf(usage, nil))) // the refused key was the cause of the outage
		}
		g.dispatcher.Wake()
	}
}

func (g *Gateway) nextCheck() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.check
}

// askUsage asks for the upstream's quota.
func (g *Gateway) askUsage(ctx context.Context) (client.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, usageTimeout)
	defer cancel()
	return g.options.Usage(ctx)
}

const (
	// queued is the longest queue of a key, as the time in which its share serves the queue: shorter than patience. A client that
	// adapts to the latency meets no refusals, which come seconds before the answers and would mislead the client.
	queued = 10 * time.Second

	leastQueued = 8     // calls of a key, at low rates
	mostQueued  = 10000 // calls of a key, at high rates
)

// Waiting implements [embedded.Backend].
func (g *Gateway) Waiting(key *embedded.Key) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.Waiting(key)
}

// isFull reports whether a key has as many calls waiting as it may have at a rate in requests a second. The caller holds mu.
func (g *Gateway) isFull(key *embedded.Key, rate float64) bool {
	share := rate * g.queue.Share(key)
	return g.queue.Waiting(key) >= int(min(max(share*queued.Seconds(), leastQueued), mostQueued))
}
