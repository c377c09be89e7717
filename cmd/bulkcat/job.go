package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/jobs"
	"github.com/bulkcat/bulkcat/pipeline/storage"
)

// job is a job of a job file: the command with the flags that the file sets.
type job struct {
	number  int
	cmd     *cobra.Command
	flags   *runFlags
	missing error // says which inputs do not exist yet; nil if all exist
}

func newRun(s streams) *cobra.Command {
	var (
		log    logFlags
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "run JOBS.toml",
		Short: "Run the jobs of a file, one after the other",
		Long: `Run the jobs of a TOML file, one after the other. The keys of a job are kind ("website"
or "product"), input (a file, or a list of files) and the names of flags; the table
[defaults] has keys for all jobs. A key does what the flag does; flags of the environment
hold where the file has no key. Paths are relative to the current folder. A job file has no
secrets: set BULKCAT_API_KEY and BULKCAT_NOTIFY, or name files with api-key-file and
header-file.

All jobs are checked before the first begins: their keys, and that no two write the same
file. An input that is not there, and is not an output of a job before, is told at once; that
job fails unless the input comes in time. A job that ends early or fails does not keep the
others from running; an interruption ends all. finish-by counts from the start of the
first job. The exit status is the worst of all jobs: from the best, 0, 3, 4, 5, 75, 1, 2, 130, 141, 143.`,
		Example: `  bulkcat run jobs.toml
  bulkcat run jobs.toml --dry-run   # what would all jobs ask?

  # jobs.toml
  [defaults]
  rate = "50/s"
  carry = "all"

  [[job]]
  kind = "website"
  input = ["domains.csv"]
  output = "domains.parquet"

  [[job]]
  kind = "product"
  input = ["feeds/*.csv.gz"]
  output = "catalog/"`,
		Args: operands(1, 1, "no job file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opened, err := openJobs(cmd.Context(), s, args[0], cmd.Flags())
			if err != nil {
				return &usageError{err}
			}
			return runJobs(cmd.Context(), s, opened)
		},
	}
	addGroup(cmd, "Run", []option{
		{name: "dry-run", to: &dryRun, help: "read the inputs and say what all jobs would ask, without asking"},
	}, log.options())
	return cmd
}

// openJobs reads a job file and checks all its jobs. The flags of the command line that are set hold for all
// jobs.
func openJobs(ctx context.Context, s streams, path string, given *pflag.FlagSet) ([]*job, error) {
	file, err := jobs.Read(path)
	if err != nil {
		return nil, err
	}
	var (
		opened  []*job
		errs    []error
		files   jobFiles
		started = time.Now()
	)
	for i := range file.Len() {
		if len(errs) >= mostBroken && i < file.Len()-1 {
			errs = append(errs, fmt.Errorf("the other %d jobs were not checked, after %d errors", file.Len()-i, mostBroken))
			break
		}
		settings, err := file.Job(i)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		j, err := openJob(ctx, s, file, settings, given, started)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		j.number = i + 1
		var wrong []error
		if wrong, j.missing = files.add(j); j.missing != nil {
			j.missing = file.ErrorAt(settings.Line, "%w", j.missing)
		}
		for _, err := range wrong {
			errs = append(errs, file.ErrorAt(settings.Line, "%w", err))
		}
		opened = append(opened, j)
	}
	return opened, withoutRepeats(errs)
}

// mostBroken is the number of broken jobs after which no further jobs are checked: nobody reads more errors, and a program that
// writes job files makes the same error in every job.
const mostBroken = 100

// openJob makes the command of a job, sets its flags and checks them.
func openJob(ctx context.Context, s streams, file *jobs.File, settings jobs.Job, given *pflag.FlagSet, started time.Time) (*job, error) {
	j := new(job)
	j.cmd, j.flags = newRunCommand(s, settings.Kind)
	j.flags.started = started
	err := setFlags(file, settings, j.cmd.Flags())
	if err != nil {
		return nil, err
	}
	given.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && flag.Name != "help" {
			err = errors.Join(err, j.cmd.Flags().Set(flag.Name, flag.Value.String()))
		}
	})
	if err := errors.Join(err, fromEnvironment(j.cmd.Flags())); err != nil {
		return nil, file.ErrorAt(settings.Line, "%w", err)
	}
	j.flags.input.Paths = settings.Inputs
	_, err = j.flags.openNotifier(ctx)
	if err := errors.Join(err, j.cmd.PreRunE(j.cmd, nil), j.flags.complete()); err != nil {
		return nil, file.ErrorAt(settings.Line, "%w", err)
	}
	return j, nil
}

// withoutRepeats joins errors without repeated lines: each job has the errors of the defaults.
func withoutRepeats(errs []error) error {
	var lines []string
	for _, err := range errs {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// jobsError has the exit status of several jobs. Each job has reported its own error.
type jobsError struct{ status int }

func (e *jobsError) Error() string { return fmt.Sprintf("a job ended with status %d", e.status) }

// fromBest are the exit statuses from the best to the worst. A failure is worse than a resumable run, because starting the jobs
// again does not help.
var fromBest = []int{exitComplete, exitUnanswered, exitBroken, exitSpent, exitStopped, exitFailed, exitUsage, exitInterrupted, exitUnread, exitTerminated}

// worse returns the worse of two exit statuses.
func worse(a, b int) int {
	return fromBest[max(slices.Index(fromBest, a), slices.Index(fromBest, b))]
}

func runJobs(ctx context.Context, s streams, jobs []*job) error {
	worst, dry := exitComplete, false
	for _, j := range jobs {
		if j.missing != nil {
			s.err.Begin(j.flags.log.format == "json")
			s.err.Fail(fmt.Errorf("job %d of %d: %w: the other jobs run", j.number, len(jobs), j.missing))
		}
	}
	for _, j := range jobs {
		dry = dry || j.flags.dryRun
		worst = worse(j.run(ctx, s, len(jobs)), worst)
		if ctx.Err() != nil { // the signal may have come after the end of a job
			worst = worse(exitStatusOf(signalOf(ctx)), worst)
			break
		}
	}
	if dry && len(jobs) > 1 {
		printForecasts(s, jobs)
	}
	if worst == exitComplete {
		return nil
	}
	return &jobsError{worst}
}

// run runs a job, reports its error and returns its exit status.
func (j *job) run(ctx context.Context, s streams, of int) int {
	s.err.Begin(j.flags.log.format == "json")
	headline := fmt.Sprintf("job %d of %d: %s %s", j.number, of, j.flags.Kind, strings.Join(j.flags.input.Paths, " "))
	if output := j.flags.Output.Path; output != "" {
		headline += " -o " + output
	}
	switch {
	case j.flags.dryRun:
		fmt.Fprintln(s.text(), headline)
	case !j.flags.log.quiet:
		fmt.Fprintln(s.err, headline)
	}
	j.cmd.SetContext(storage.With(ctx, new(storage.Objects)))
	err := j.cmd.RunE(j.cmd, j.flags.input.Paths)
	if !isReported(err) {
		s.err.Fail(fmt.Errorf("job %d of %d: %w", j.number, of, err), slog.Bool("misconfigured", isMisconfigured(err)))
	}
	return exitStatus(err, signalOf(ctx))
}

// printForecasts prints the sum of all forecasts.
func printForecasts(s streams, jobs []*job) {
	first := jobs[0].flags
	sum, kind := pipeline.Forecast{Quota: jobs[len(jobs)-1].flags.forecast.Quota}, client.Product
	held, failed := costOfForecast(pipeline.Forecast{}, first.Price), costOfForecast(pipeline.Forecast{}, first.Price)
	for _, j := range jobs {
		f := j.flags.forecast
		sum.Add(f)
		held, failed = held.plus(costOfForecast(f, j.flags.Price)), failed.plus(costOfForecast(f.IfAuditFails(), j.flags.Price))
		if j.flags.Service.Name != first.Service.Name {
			sum.Quota = client.Usage{}
		}
		if j.flags.Kind == client.Website {
			kind = client.Website
		}
	}
	fmt.Fprintln(s.text(), "all jobs: the sums; a request of two jobs counts twice, but is asked once if both jobs have the same store")
	printForecast(s.text(), sum, kind, held, failed)
}
