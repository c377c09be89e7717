package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Workers is the maximum number of requests in flight.
const Workers = 16

// waiting is the maximum number of answers that wait for an fsync: the answers of some milliseconds with Workers requests in
// flight to a service on this machine.
const waiting = 64

// Options describe a loop.
type Options struct {
	Bulkcat string // the program
	Dir     string // the loop's own folder; the folders of failed cycles stay in it
	Format  Format
	Kills   int
	Records int // of the input, including duplicates and bad rows
	Seed    uint64
}

const (
	variants    = 3                // number of inputs, with different titles in different orders
	mostKills   = 25               // maximum number of kills in a cycle; later starts are not killed
	mostFailed  = 5                // number of failed cycles that ends the loop
	startsAKill = 10               // average number of starts per kill from which on the loop gives up
	hung        = 60 * time.Second // the time limit of a start, which takes at most a second
)

// loop is a loop under way.
type loop struct {
	Options
	random     *rand.Rand
	references [variants]*reference // made on first use
	report     Report
}

// Run runs a loop. The report has the failed cycles; the error says why the loop could not continue.
func Run(ctx context.Context, options Options) (Report, error) {
	began := time.Now()
	l := &loop{
		Options: options,
		random:  rand.New(rand.NewPCG(options.Seed, uint64(len(options.Format)))),
		report:  Report{Format: options.Format, Seed: options.Seed, Kills: make(map[Phase]int)},
	}
	err := l.run(ctx)
	l.report.Duration = time.Since(began)
	return l.report, err
}

func (l *loop) run(ctx context.Context) error {
	if l.Format == Free {
		if err := l.learn(ctx); err != nil {
			return err
		}
	}
	for number := 0; l.report.killed() < l.Kills; number++ {
		if len(l.report.Failures) == mostFailed {
			return nil
		}
		if most := startsAKill * (l.Kills + mostKills); l.report.Starts > most {
			return fmt.Errorf("only %d of %d starts were killed: bulkcat ends too soon for this machine", l.report.killed(), l.report.Starts)
		}
		if err := l.cycle(ctx, number); err != nil {
			return err
		}
	}
	if l.report.Twice > l.report.Bound {
		l.report.Failures = append(l.report.Failures, fmt.Errorf("%d answers went to inputs that were answered before, but what was in flight at the kills explains %d at most", l.report.Twice, l.report.Bound))
	}
	return nil
}

// cycle runs one cycle. It adds faults of bulkcat to the report and keeps the folder of a failed
// cycle; the error is a fault of the loop.
func (l *loop) cycle(ctx context.Context, number int) error {
	want, err := l.reference(ctx, number%variants)
	if err != nil {
		return err
	}
	dir := filepath.Join(l.Dir, fmt.Sprintf("%s-%d", l.Format, number))
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	c := &cycle{loop: l, dir: dir, want: want}
	err = c.run(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		l.report.Failures = append(l.report.Failures, fmt.Errorf("%s, after %d kills: %w", dir, c.kills, err))
		return nil
	}
	l.report.Cycles++
	return remove(dir)
}

// reference is the result of an undisturbed run over a variant of the input.
type reference struct {
	input    []byte
	seed     uint64
	statuses []int // of the commands
	twice    int   // answers to inputs that were answered before, in another shard
	tree     tree
	duration time.Duration // of the longest command
}

// reference returns the reference of a variant. It makes the reference on first use, with a
// service without faults.
func (l *loop) reference(ctx context.Context, variant int) (*reference, error) {
	if l.references[variant] != nil {
		return l.references[variant], nil
	}
	r := &reference{seed: l.Seed + uint64(variant)}
	r.input = makeInput(l.Records, r.seed)
	dir := filepath.Join(l.Dir, fmt.Sprintf("%s-reference-%d", l.Format, variant))
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	service, err := l.newService(r.seed, nil)
	if err != nil {
		return nil, err
	}
	defer service.Close()
	for _, command := range commands(l.Format) {
		ended, err := start(ctx, l.Bulkcat, dir, command, r.input, service.URL(), never)
		if err != nil {
			return nil, fmt.Errorf("the undisturbed %s: %w", command[0], err)
		}
		r.statuses, r.duration = append(r.statuses, ended.status), max(r.duration, ended.duration)
	}
	_, r.twice = answered(service)
	if r.tree, err = readTree(dir); err != nil {
		return nil, err
	}
	l.references[variant] = r
	return r, remove(dir)
}

// Report has the counts and failures of a loop.
type Report struct {
	Format   Format
	Seed     uint64
	Kills    map[Phase]int
	Starts   int // of bulkcat, without undisturbed runs
	Resumes  int // starts after a kill
	Cycles   int // cycles without a failure
	Inputs   int // distinct inputs with an answer, over all cycles
	Answers  int // sound answers of the service
	Twice    int // answers to inputs that were answered before in the same cycle
	Bound    int // the bound of Twice, from the number of kills
	Duration time.Duration
	Failures []error // of cycles

	TwiceAKill int // Twice per kill, in the worst cycle
}

func (r *Report) killed() int {
	n := 0
	for _, kills := range r.Kills {
		n += kills
	}
	return n
}

// String returns the report as a line of text, and a line for each failure.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d kills (", r.Format, r.killed())
	for i, phase := range Phases {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", r.Kills[phase], phase)
	}
	fmt.Fprintf(&b, "), %d resumes, %d cycles as undisturbed, %d not; %d distinct inputs, %d answers, %d of them asked twice (%d are the bound; %d a kill in the worst cycle); seed %d, %v",
		r.Resumes, r.Cycles, len(r.Failures), r.Inputs, r.Answers, r.Twice, r.Bound, r.TwiceAKill, r.Seed, r.Duration.Round(100*time.Millisecond))
	for _, err := range r.Failures {
		fmt.Fprintf(&b, "\n  %v", err)
	}
	return b.String()
}
