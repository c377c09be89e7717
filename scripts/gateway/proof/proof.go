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
	Rate     float64 // of the upstream, in requests a second
	Learn    bool    // the gateway learns the rate
	Kills    int
	Between  time.Duration // kills, on average
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
	Answers  int   // that were charged
	Repeated int   // charged answers beyond the first of an input: in flight at a kill
	Paid     int   // repeated after a client had the answer; must be 0
	Charged  int64 // to the clients' keys
	Kills    int
	Used     float64 // Served in relation to what the rate allows while the gateway is up
	Slowest  float64 // the lowest share of a client in relation to a fair share
	Wrong    []error // rows that are wrong or missing
}

// String is a table.
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
	line("share of the limit used", "%.3f", r.Used)
	line("slowest client, of a fair share", "%.2f", r.Slowest)
	line("wrong rows", "%d", len(r.Wrong))
	return b.String()
}

// proof is a proof under way.
type proof struct {
	Options
	random   *rand.Rand
	upstream *clienttest.Endpoint
	address  string // of the gateway
	clients  []*run
	report   Report
	up       [][2]time.Time // when the gateway listened
}

const upstreamKey = "key-of-the-upstream-0123456789"

// newUpstream starts an upstream: one request of a hundred fails, and three inputs of a hundred are
// rejected. Its bucket holds a twentieth of a second.
func newUpstream(rate float64, seed uint64) (*clienttest.Endpoint, error) {
	return clienttest.NewEndpoint(clienttest.New(clienttest.Options{
		Key: upstreamKey, Seed: seed, Missing: 0.03, Rate: rate, Bucket: max(1, int(rate/20)), RetryAfter: clienttest.Seconds,
		Latency: 30 * time.Millisecond, Jitter: 40 * time.Millisecond,
		Faults: map[clienttest.Fault]float64{
			clienttest.Error500: 0.004, clienttest.Error503: 0.002, clienttest.Reset: 0.001, clienttest.Truncated: 0.001,
			clienttest.HTML: 0.001, clienttest.Slow: 0.001, clienttest.Hang: 0.0002,
		},
	}))
}

// Run runs a proof. The error says why it could not go on; what is wrong is in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	p := &proof{Options: o, random: rand.New(rand.NewPCG(o.Seed, 1))}
	var err error
	if p.upstream, err = newUpstream(o.Rate, o.Seed); err != nil {
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
		c := &run{number: i, dir: filepath.Join(p.Dir, fmt.Sprintf("client-%d", i)), rows: make(map[string]row, each)}
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

// run runs the clients to their end, and kills the gateway meanwhile.
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
	var failed error
	go func() {
		failed = clients.Wait()
		ended()
	}()
	for {
		g, err := p.startGateway(ctx)
		if err != nil {
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
			return errors.Join(failed, ctx.Err(), err, g.Signal(syscall.SIGINT), g.Wait())
		case <-time.After(kill):
		}
		g.Kill()
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
	p.report.Repeated = audit.Twice()
	for input, at := range acknowledged {
		if last[input].After(at) {
			p.report.Paid++
		}
	}
	p.report.Slowest = p.slowest(last)
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

// firstEnd is when the first client had no more work.
func (p *proof) firstEnd() time.Time {
	end := p.clients[0].ended
	for _, c := range p.clients {
		if c.ended.Before(end) {
			end = c.ended
		}
	}
	return end
}

// use compares the attempts with the rate, while the gateway was up and all clients had work. A few of the
// attempts were refused.
func (p *proof) use(arrivals []time.Time) {
	attempts, end := 0, p.firstEnd()
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

// slowest compares the clients by the attempts for their own inputs, while all clients were running.
func (p *proof) slowest(last map[string]time.Time) float64 {
	end := p.firstEnd()
	counts := make([]float64, len(p.clients))
	sum := 0.0
	for i, c := range p.clients {
		for _, input := range c.inputs {
			if strings.HasPrefix(input, "own") && last[input].Before(end) && !last[input].IsZero() {
				counts[i]++
				sum++
			}
		}
	}
	return slices.Min(counts) / (sum / float64(len(counts)))
}

// Check returns what is wrong, with lower bounds of Used and Slowest.
func (r Report) Check(used, slowest float64) error {
	var errs []error
	if r.Paid > 0 {
		errs = append(errs, fmt.Errorf("%d acknowledged answers were paid twice", r.Paid))
	}
	if n := len(r.Wrong); n > 0 {
		errs = append(errs, fmt.Errorf("%d rows are wrong, such as %w", n, r.Wrong[0]))
	}
	if r.Charged > int64(r.Answers) {
		errs = append(errs, fmt.Errorf("%d answers are charged to keys, more than the %d of the upstream", r.Charged, r.Answers))
	}
	if r.Used < used {
		errs = append(errs, fmt.Errorf("%.3f of the limit is used, less than %.2f", r.Used, used))
	}
	if r.Slowest < slowest {
		errs = append(errs, fmt.Errorf("the slowest client has %.2f of a fair share, less than %.2f", r.Slowest, slowest))
	}
	return errors.Join(errs...)
}
