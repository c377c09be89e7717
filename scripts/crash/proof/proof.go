package proof

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// Options describe a proof.
type Options struct {
	Bulkcat  string // the program
	Dir      string // for inputs, outputs and stores; must be empty
	Clients  int
	Requests int     // of all clients; half of them are for inputs that all clients share
	Rate     float64 // of the upstream, in requests per second
	Kills    int
	Between  time.Duration // average time between kills
	Troubles int           // how often the upstream is in trouble: see Trouble
	Used     bool          // Check bounds Report.Used; not for a short proof, whose clients start and end most of the time
	Seed     uint64
}

// Report is the result of a proof.
type Report struct {
	Took     time.Duration
	Up       time.Duration // while the gateway was listening and clients were running
	Requests int
	Distinct int   // inputs
	Served   int   // attempts that the upstream did not refuse
	Refused  int   // attempts beyond the rate
	Answers  int   // answers that were charged
	Repeated int   // charged answers beyond the first of an input: in flight at a kill
	Lost     int   // of Repeated: neither the gateway nor its upstream died while the answer was in flight; must be 0
	Paid     int   // inputs that were asked again after a client had the answer; must be 0
	Charged  int64 // answers that were charged to the clients' keys
	Kills    int
	Used     float64 // served attempts divided by the attempts that the rate allows, while the gateway is up
	Wrong    []error // rows that are wrong or missing
	Troubled int     // how often the upstream was in trouble
}

// String returns the report as a table.
func (r Report) String() string {
	var b strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "%-34s %s\n", name, fmt.Sprintf(format, values...))
	}
	line("requests of the clients", "%d (%d distinct)", r.Requests, r.Distinct)
	line("time", "%v (%d kills; gateway up and all clients busy: %v)", r.Took.Round(time.Second), r.Kills, r.Up.Round(time.Second))
	line("attempts at the upstream", "%d (%d more refused)", r.Served, r.Refused)
	line("answers charged by the upstream", "%d (%d repeated)", r.Answers, r.Repeated)
	line("answers charged to keys", "%d", r.Charged)
	line("acknowledged answers paid twice", "%d", r.Paid)
	line("repeated, though nothing had died", "%d", r.Lost)
	line("troubles of the upstream", "%d", r.Troubled)
	line("share of the limit used", "%.3f", r.Used)
	line("wrong rows", "%d", len(r.Wrong))
	return b.String()
}

// proof is a proof under way.
type proof struct {
	Options
	random   *rand.Rand
	upstream *clienttest.Endpoint
	address  string // of the gateway
	clients  []*client
	report   Report
	up       [][2]time.Time // when the gateway listened
	troubles *rand.Rand
	now      now

	mu     sync.Mutex
	deaths []time.Time
}

const upstreamKey = "key-of-the-upstream-0123456789"

// newUpstream starts an upstream. About one request of a hundred fails, and three inputs of a hundred are rejected. Its bucket
// holds the requests of a twentieth of a second.
func newUpstream(rate float64, seed uint64, now *now) (*clienttest.Endpoint, error) {
	return clienttest.NewEndpoint(clienttest.New(clienttest.Options{
		Key: upstreamKey, Seed: seed, Missing: 0.03,
		Limiter: &clienttest.Bucket{Rate: rate, Burst: max(1, rate/20)}, Refusal: clienttest.Refusal{Style: clienttest.Seconds},
		Latency: 30 * time.Millisecond, Jitter: 40 * time.Millisecond, Revoked: now.isRevoked, Closed: now.left,
		Faults: map[clienttest.Fault]float64{
			clienttest.Error500: 0.004, clienttest.Error503: 0.002, clienttest.Reset: 0.001, clienttest.Truncated: 0.001,
			clienttest.HTML: 0.001, clienttest.Slow: 0.001, clienttest.Hang: 0.0002,
		},
	}))
}

// Run runs a proof. The report has the faults of bulkcat; the error says why the proof could not continue.
func Run(ctx context.Context, o Options) (Report, error) {
	p := &proof{Options: o, random: rand.New(rand.NewPCG(o.Seed, 1)), troubles: rand.New(rand.NewPCG(o.Seed, 2))}
	var err error
	if p.upstream, err = newUpstream(o.Rate, o.Seed, &p.now); err != nil {
		return Report{}, err
	}
	defer p.upstream.Close()
	if p.address, err = process.FreeAddr(); err != nil {
		return Report{}, err
	}
	if err := p.prepare(); err != nil {
		return Report{}, err
	}
	began := time.Now()
	err = p.run(ctx)
	p.report.Took = time.Since(began)
	if err != nil {
		return p.report, err
	}
	return p.report, p.audit()
}

// prepare writes the inputs and the keys. Each client has its own inputs and the shared inputs, in its own
// order.
func (p *proof) prepare() error {
	each := p.Requests / p.Clients
	var keys strings.Builder
	for i := range p.Clients {
		c := &client{number: i, dir: filepath.Join(p.Dir, fmt.Sprintf("client-%d", i)), rows: make(map[string]row, each)}
		for n := range each {
			if n%2 == 0 {
				c.inputs = append(c.inputs, fmt.Sprintf("shared item %d of oak", n/2))
			} else {
				c.inputs = append(c.inputs, fmt.Sprintf("own item %d of client %d", n/2, i))
			}
		}
		p.random.Shuffle(each, func(a, b int) { c.inputs[a], c.inputs[b] = c.inputs[b], c.inputs[a] })
		if err := os.Mkdir(c.dir, 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.dir, "in.txt"), []byte(strings.Join(c.inputs, "\n")+"\n"), 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&keys, "%s quota=10000000 name=client-%d\n", c.key(), i)
		p.clients = append(p.clients, c)
	}
	p.report.Requests, p.report.Distinct = p.Clients*each, p.Clients*(each/2)+(each+1)/2
	return os.WriteFile(filepath.Join(p.Dir, "keys.txt"), []byte(keys.String()), 0o666)
}

// run runs the clients to their end, and kills the gateway repeatedly.
func (p *proof) run(ctx context.Context) error {
	running, ended := context.WithCancel(ctx)
	defer ended()
	var clients errgroup.Group
	started := make(chan struct{})
	for _, c := range p.clients {
		clients.Go(func() error {
			<-started
			defer func() { c.ended = time.Now() }()
			return c.run(ctx, p.Bulkcat, "http://"+p.address)
		})
	}
	var disturbing errgroup.Group
	disturbing.Go(func() error { return p.disturb(running) })
	var failed error
	go func() {
		failed = clients.Wait()
		ended()
	}()
	for {
		g, err := p.startGateway(ctx)
		if g == nil {
			return err
		}
		from := time.Now()
		select {
		case <-started:
		default:
			close(started)
		}
		kill := time.Duration(float64(p.Between) * (0.5 + p.random.Float64()))
		if p.report.Kills == p.Kills {
			kill = 24 * time.Hour
		}
		select {
		case <-running.Done():
			p.up = append(p.up, [2]time.Time{from, time.Now()})
			used, err := p.charged()
			p.report.Charged = used
			return errors.Join(failed, ctx.Err(), err, g.Signal(syscall.SIGINT), g.Wait(), disturbing.Wait())
		case <-g.Ended(): // the gateway does not start while the upstream refuses its key
			if p.Troubles == 0 || g.Status() != 1 {
				return g.Wait()
			}
			sleep(ctx, 100*time.Millisecond)
			continue
		case <-time.After(kill):
		}
		g.Kill()
		p.died(time.Now())
		p.up = append(p.up, [2]time.Time{from, time.Now()})
		p.report.Kills++
	}
}

// audit compares the outputs of the clients with the audit of the upstream.
func (p *proof) audit() error {
	acknowledged := map[string]time.Time{} // when a client first had the answer
	for _, c := range p.clients {
		if err := c.read(); err != nil {
			return err
		}
		for _, input := range c.inputs {
			r, ok := c.rows[input]
			if err := p.check(input, r); !ok || err != nil {
				p.report.Wrong = append(p.report.Wrong, fmt.Errorf("%s: %q: %v %w", c.dir, input, r, err))
			}
			if at, ok := acknowledged[input]; r.status == "ok" && (!ok || r.at.Before(at)) {
				acknowledged[input] = r.at
			}
		}
	}
	audit, last := p.upstream.Audit(), map[string]time.Time{} // when an input was asked last
	for _, visit := range p.upstream.Visits() {
		last[visit.Input] = visit.Arrived
	}
	p.report.Refused, p.report.Answers = audit.Refused, int(audit.Answers)
	p.report.Served = len(audit.Arrivals) - audit.Refused
	p.use(audit.Arrivals)
	p.report.Repeated, p.report.Lost = audit.Twice(), p.unexplained(p.upstream.Answers())
	for input, at := range acknowledged {
		if last[input].After(at) {
			p.report.Paid++
		}
	}
	return nil
}

// check returns what is wrong with the row of an input.
func (p *proof) check(input string, r row) error {
	want := row{status: "ok", value: clienttest.Value(input)}
	if p.upstream.Missing(input) {
		want = row{status: "rejected"}
	}
	if r.status != want.status || r.value != want.value {
		return fmt.Errorf("want %s %q", want.status, want.value)
	}
	return nil
}

// use sets Report.Used from the attempts while the gateway was up and all clients had work. It subtracts all refused attempts,
// which are few.
func (p *proof) use(arrivals []time.Time) {
	attempts, end := 0, slices.MinFunc(p.clients, func(a, b *client) int { return a.ended.Compare(b.ended) }).ended
	for _, up := range p.up {
		if up[1].After(end) {
			up[1] = end
		}
		p.report.Up += max(0, up[1].Sub(up[0]))
		for _, at := range arrivals {
			if at.After(up[0]) && at.Before(up[1]) {
				attempts++
			}
		}
	}
	p.report.Used = float64(attempts-p.report.Refused) / (p.Rate * p.report.Up.Seconds())
}

// leastUsed is the bound of Report.Used, for an upstream without troubles.
const leastUsed = 0.95

// Check returns the faults of a proof with the options o.
func (r Report) Check(o Options) error {
	var errs []error
	refuse := func(wrong bool, format string, values ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, values...))
		}
	}
	refuse(r.Lost > 0, "%d answers were asked for again, though nothing had died meanwhile", r.Lost)
	refuse(r.Troubled < o.Troubles, "the upstream was in trouble %d times instead of %d: give more requests", r.Troubled, o.Troubles)
	refuse(r.Paid > 0, "%d acknowledged answers were paid twice", r.Paid)
	if n := len(r.Wrong); n > 0 {
		refuse(true, "%d rows are wrong, such as %w", n, r.Wrong[0])
	}
	refuse(r.Charged > int64(r.Answers), "%d answers are charged to keys, more than the %d of the upstream", r.Charged, r.Answers)
	refuse(o.Used && r.Used < leastUsed, "%.3f of the limit is used, less than %.2f", r.Used, leastUsed)
	return errors.Join(errs...)
}
