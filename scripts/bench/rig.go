package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/stores"
)

// rig has the programs, folders and cores of a measurement.
type rig struct {
	bulkcat string // the program
	self    string // this program
	dir     string // of inputs, outputs and stores, on the disk that is measured
	cores   cores
	log     io.Writer // for the progress
	outputs int       // the number of outputs so far
}

// cores are the processors of the service and the client, in the form of taskset.
type cores struct{ server, client string }

// both are the cores for work without a service.
func (c cores) both() string { return c.server + "," + c.client }

// Set takes the flag's value.
func (c *cores) Set(text string) error {
	server, client, found := strings.Cut(text, ",")
	if !found || server == "" || client == "" || strings.Contains(client, ",") {
		return errors.New("name two cores, such as 0,1")
	}
	c.server, c.client = server, client
	return nil
}

// String is the flag's value.
func (c *cores) String() string { return c.server + "," + c.client }

// apiKey is sent with all requests; the service does not check it.
const apiKey = "key-of-the-benchmark"

func (r *rig) bind(flags *flag.FlagSet) {
	r.cores = cores{"0", "1"}
	flags.StringVar(&r.bulkcat, "bulkcat", "bin/bulkcat", "the program to measure, a stripped binary")
	flags.StringVar(&r.dir, "dir", os.TempDir(), "work in a new folder below this one, on the disk to be measured")
	flags.Var(&r.cores, "cores", "of the service and of its client")
}

// open creates the rig's folder, which close removes.
func (r *rig) open() (err error) {
	r.log = os.Stderr
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
		fmt.Fprintln(r.log, "bench: there is no taskset: processes run on any core, and ratios are less reliable")
	}
	r.dir, err = os.MkdirTemp(r.dir, "bulkcat-bench-")
	return err
}

// use parses the flags, opens the rig for a measurement, and prints the text that the measurement returns.
func (r *rig) use(flags *flag.FlagSet, args []string, stdout io.Writer, measure func() (string, error)) (text string, err error) {
	r.bind(flags)
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	if flags.NArg() > 0 {
		return "", fmt.Errorf("%q is neither a flag nor one of growth and compare", flags.Arg(0))
	}
	if err := r.open(); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	text, err = measure()
	fmt.Fprint(stdout, text)
	return text, err
}

func (r *rig) close() error { return os.RemoveAll(r.dir) }

func (r *rig) say(format string, args ...any) { fmt.Fprintf(r.log, "bench: "+format+"\n", args...) }

// output returns the path of a file that does not exist.
func (r *rig) output(extension string) string {
	r.outputs++
	return filepath.Join(r.dir, fmt.Sprintf("out-%d.%s", r.outputs, extension))
}

// arm is a run of bulkcat over an input.
type arm struct {
	program  string // "" for the rig's
	url      string // of the service; "" for the embedded one
	caFile   string // of the service; "" without TLS
	cores    string
	input    input
	inFlight int
	learns   bool   // learn the rate, instead of asking without a limit
	format   string // of the output: csv or parquet
	store    string // folder; "" for the store beside the output, which is removed with the output
}

// run runs an arm and removes its files, except for a store that the arm names.
func (r *rig) run(ctx context.Context, a arm) (effort, error) {
	path, err := a.input.write(r.dir)
	if err != nil {
		return effort{}, err
	}
	output := r.output(a.format)
	defer removeOutput(output)
	program := cmp.Or(a.program, r.bulkcat)
	c := command{cores: a.cores, args: []string{program, string(a.input.kind), path, "--quiet"}}
	if a.url != "" {
		c.env = []string{"BULKCAT_BASE_URL=" + a.url, "BULKCAT_API_KEY=" + apiKey}
		c.args = append(c.args, a.serviceArgs()...)
	}
	if a.store != "" {
		c.args = append(c.args, "--store", a.store)
	}
	c.args = append(c.args, "-o", output)
	return c.run(ctx)
}

// serviceArgs are the arguments for a service that is asked over HTTP.
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

// removeOutput removes an output and the files beside it, the folder's store included, so that
// the next run makes the same requests.
func removeOutput(path string) {
	for _, suffix := range []string{"", ".run.json", ".run.journal", ".status.json", ".answers"} { // the store in earlier revisions
		_ = os.RemoveAll(path + suffix)
	}
	_ = os.RemoveAll(filepath.Join(filepath.Dir(path), stores.Name))
}
