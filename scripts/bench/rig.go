package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/bulkcat/bulkcat/scripts/process"
)

// rig has the programs and the folder of a measurement.
type rig struct {
	bulkcat string // the program
	self    string // this program
	dir     string // of inputs, outputs and stores, on the disk that is measured
	outputs int    // the number of outputs so far
}

// The processors of the service and of the client, and both for work without a service, in the form of taskset.
const serverCore, clientCore, bothCores = "0", "1", "0,1"

// apiKey is sent with all requests; the service does not check it.
const apiKey = "key-of-the-benchmark"

// open creates the rig's folder.
func (r *rig) open() (err error) {
	if r.self, err = os.Executable(); err != nil {
		return err
	}
	if r.bulkcat, err = filepath.Abs(r.bulkcat); err != nil {
		return err
	}
	if _, err := os.Stat(r.bulkcat); err != nil {
		return fmt.Errorf("%w: build it with `make build`, or name it with -bulkcat", err)
	}
	if !pins() {
		r.say("there is no taskset: processes run on any core, and ratios are less reliable")
	}
	r.dir, err = os.MkdirTemp("", "bulkcat-bench-")
	return err
}

func (r *rig) say(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

// output returns the path of a file that does not exist.
func (r *rig) output(extension string) string {
	r.outputs++
	return filepath.Join(r.dir, fmt.Sprintf("out-%d.%s", r.outputs, extension))
}

// pins reports whether processes can be pinned to cores.
func pins() bool {
	_, err := exec.LookPath("taskset")
	return err == nil
}

// start starts a program on cores, in the form of taskset, without the user's settings. The Go runtime takes GOMAXPROCS from the
// number of cores.
func (r *rig) start(ctx context.Context, cores string, env []string, args ...string) (*process.Process, error) {
	if pins() {
		args = append([]string{"taskset", "-c", cores}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(process.Without("BULKCAT_"), env...)
	return process.Start(ctx, cmd, r.output("log"))
}

// effort has the resources that a process has used.
type effort struct {
	wall time.Duration
	cpu  time.Duration // user and system time
	peak int64         // resident memory in bytes
}

// complete runs a program to its end; any status but 0 is an error.
func (r *rig) complete(ctx context.Context, cores string, env []string, args ...string) (effort, error) {
	p, err := r.start(ctx, cores, env, args...)
	if err != nil {
		return effort{}, err
	}
	err = p.Complete()
	cpu, peak := p.Used()
	return effort{p.Took(), cpu, peak}, err
}

// arm is a run of bulkcat over an input.
type arm struct {
	url      string // of the service; "" for the embedded service
	caFile   string // of the service; "" without TLS
	cores    string
	input    input
	inFlight int
	learns   bool   // learn the rate, instead of asking without a limit
	format   string // of the output: csv or parquet
	store    string // "" for a store beside the output, which is removed with the output
}

// run runs an arm and removes its files, except for a store that the arm names.
func (r *rig) run(ctx context.Context, a arm) (effort, error) {
	path, err := a.input.write(r.dir)
	if err != nil {
		return effort{}, err
	}
	output := r.output(a.format)
	defer removeOutput(output)
	args := []string{r.bulkcat, string(a.input.kind), path, "--quiet", "-o", output}
	env := []string{"XDG_STATE_HOME=" + output + stateSuffix}
	if a.url != "" {
		env = append(env, "BULKCAT_BASE_URL="+a.url, "BULKCAT_API_KEY="+apiKey)
		args = append(args, a.serviceArgs()...)
	}
	if a.store != "" {
		args = append(args, "--store", a.store)
	}
	return r.complete(ctx, a.cores, env, args...)
}

// serviceArgs returns the arguments for a service that is asked over HTTP.
func (a arm) serviceArgs() []string {
	args := []string{"--workers", fmt.Sprint(a.inFlight)}
	if !a.learns {
		args = append(args, "--rate", "0")
	}
	if a.caFile != "" {
		args = append(args, "--ca-file", a.caFile)
	}
	return args
}

// rounds runs arms alternately, and returns the measurements of each arm. before runs before each round, unless it is nil.
func (r *rig) rounds(ctx context.Context, n int, before func() error, arms ...arm) ([]measurements, error) {
	all := make([]measurements, len(arms))
	for range n {
		if before != nil {
			if err := before(); err != nil {
				return nil, err
			}
		}
		for i, a := range arms {
			e, err := r.run(ctx, a)
			if err != nil {
				return nil, err
			}
			all[i].add(e, a.input.records)
		}
	}
	return all, nil
}

// beside is rounds with a run of the bare loop before each round. It also returns the rates of the loop.
func (r *rig) beside(ctx context.Context, s scale, bareRate float64, arms ...arm) (all []measurements, loop sample, err error) {
	all, err = r.rounds(ctx, s.rounds, func() error {
		rate, err := r.bareRate(ctx, recordsIn(bareRate, s.arm))
		loop = append(loop, rate)
		return err
	}, arms...)
	return all, loop, err
}

// measurements has the measurements of an arm, one for each round.
type measurements struct {
	rate sample // records per second
	cpu  sample // seconds per record
	peak sample // bytes
}

func (m *measurements) add(e effort, records int) {
	n := float64(records)
	m.rate = append(m.rate, n/e.wall.Seconds())
	m.cpu = append(m.cpu, e.cpu.Seconds()/n)
	m.peak = append(m.peak, float64(e.peak))
}

// stateSuffix ends the name of the state folder of a run, which has its store.
const stateSuffix = ".state"

// removeOutput removes an output and the files beside it, including the store, so that the next run makes the same requests.
func removeOutput(path string) {
	for _, suffix := range []string{"", ".run.json", stateSuffix} {
		_ = os.RemoveAll(path + suffix)
	}
}
