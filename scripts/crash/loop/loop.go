package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Workers is the number of requests in flight, at most.
const Workers = 16

// waiting is the number of answers that wait for an fsync, at most, while Workers requests are in
// flight to a service of this machine: those of some milliseconds.
const waiting = 64

// Options describe a loop.
type Options struct {
	Bulkcat string // the program
	Dir     string // the loop's own folder; the folders of failed cycles stay in it
	Format  Format
	Kills   int
	Records int // of the input, duplicates and bad rows included
	Seed    uint64
}

const (
	variants    = 3                // inputs, of different titles in different orders
	mostKills   = 25               // in a cycle; then it is left in peace, so that it ends
	mostFailed  = 5                // cycles; more would tell nothing new
	startsAKill = 10               // on average, at most: a loop that seldom hits ends, too
	hung        = 60 * time.Second // for one start, of a second or less
)

// loop is a loop under way.
type loop struct {
	Options
	random     *rand.Rand
	references [variants]*reference // each made when it is first needed
	report     Report
}

// Run runs a loop. Cycles that went wrong are in the report; the error is of a loop that
// could not go on at all.
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
	if most := l.report.killed() * (Workers + waiting); l.report.Twice > most {
		l.report.Failures = append(l.report.Failures, fmt.Errorf("%d answers went to inputs that were answered before, but what was in flight at the kills explains %d at most", l.report.Twice, most))
	}
	return nil
}

// cycle runs one cycle. What bulkcat does wrong goes into the report, and the cycle's
// folder stays; the error is our own trouble.
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
	return os.RemoveAll(dir)
}

// reference is what an undisturbed run over a variant of the input makes of it.
type reference struct {
	input    []byte
	seed     uint64
	status   int
	tree     tree
	duration time.Duration // of the run
}

// reference makes a variant's reference, with a sound service, on first use.
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
	service := newService(r.seed, nil)
	defer service.close()
	p, err := start(l.Bulkcat, dir, l.Format, r.input, service.url)
	if err != nil {
		return nil, err
	}
	ended, err := p.wait(ctx, never)
	if err != nil {
		return nil, fmt.Errorf("the run that nobody disturbs: %w", err)
	}
	r.status, r.duration = ended.status, ended.duration
	if r.tree, err = readTree(dir); err != nil {
		return nil, err
	}
	l.references[variant] = r
	return r, os.RemoveAll(dir)
}
