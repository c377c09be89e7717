package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline/storage"
)

const exitStatuses = `Exit status:
  0    complete, every record has an answer or is blank
  1    failed
  2    wrong usage
  3    complete, but some records have no answer (rejected, failed or invalid)
  4    complete, but an expectation is not met (--expect), or held back for that reason;
       or stopped because one will not be met (--expect-else stop): resumable
  5    stopped because the run has spent its budget (--max-requests, --max-cost): resumable
       with a larger budget
  75   stopped early and resumable (quota, deadline or outage), or --partial left records
       pending
  130  interrupted and resumable
  143  terminated, or the terminal was closed, and resumable
`

// streams are the standard streams and the signals of the program. Tests have streams of their own.
type streams struct {
	in      io.Reader
	out     io.Writer
	err     *terminal.Console
	signals *signals
}

// text is standard output for text that is no data. Control characters from services and files do not get
// to the terminal.
func (s streams) text() io.Writer { return terminal.Printable(s.out) }

func execute(ctx context.Context, args []string, s streams) error {
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	running := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := fromEnvironment(cmd.Flags()); err != nil {
			return err
		}
		running = true
		return nil
	}
	err := flagged(root.ExecuteContext(storage.With(ctx, storage.New())))
	if err != nil && !running { // the command line is wrong
		return &usageError{fmt.Errorf("%w\nRun 'bulkcat --help' for usage", err)}
	}
	return err
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "bulkcat",
		Short: "Categorize millions of websites or products into Parquet or CSV",
		Long: `bulkcat categorizes long lists of websites or product titles and writes one flat
row per category. It asks the Categorization Service at BULKCAT_BASE_URL with the key
in BULKCAT_API_KEY; without a base URL the embedded service answers, on this machine.
Every answer is stored on disk: a run that is started again asks only for the rest.`,
		Example: `  bulkcat website domains.csv -o domains.parquet
  bulkcat product catalog.jsonl --column title -o catalog.csv --rate 50/s
  cat domains.txt | bulkcat website - -o - --output-format jsonl`,
		Version:       thisBuild().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newWebsite(s), newProduct(s), newRun(s), newUsage(s), newProbe(s), newVerify(s), newFinish(s), newTop(s), newReport(s), newDiff(s), newStore(s), newTaxonomy(s), newExplain(s), newEval(s), newLearn(s), newServe(s), newDemo(s), newVersion(s))
	root.SetHelpCommand(newHelp())
	root.SetUsageFunc(usageText)
	root.SetHelpFunc(helpText)
	return root
}

// fromEnvironment sets flags that are not on the command line from their variables: --part-rows from
// BULKCAT_PART_ROWS.
func fromEnvironment(flags *pflag.FlagSet) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value, ok := os.LookupEnv(name)
		if f.Changed || !ok || value == "" || f.Name == "help" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	})
	return errors.Join(errs...)
}

func variable(flag string) string {
	return "BULKCAT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// flagGroup is a group of flags under a title in the help.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// operands checks that there are at least so many operands, and at most so many unless most is 0. The error of too few
// is missing.
func operands(least, most int, missing string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return errors.New(missing)
		case most > 0 && len(args) > most:
			return fmt.Errorf("there is no place for %q", args[most:])
		}
		return nil
	}
}

// groupAnnotation is the annotation of a flag with the title of its group.
const groupAnnotation = "bulkcat_flag_group"

// addGroup adds flags under a title.
func addGroup(cmd *cobra.Command, title string, bind func(*pflag.FlagSet)) {
	flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
	flags.SortFlags = false
	bind(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		f.Annotations = map[string][]string{groupAnnotation: {title}}
	})
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(flags)
}

// groups gives the flags of a command by title, in the order in which they were added.
func groups(cmd *cobra.Command) []flagGroup {
	var list []flagGroup
	index := make(map[string]int)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		title := "Other"
		if a := f.Annotations[groupAnnotation]; len(a) > 0 {
			title = a[0]
		}
		if f.Hidden {
			return
		}
		i, ok := index[title]
		if !ok {
			i = len(list)
			index[title] = i
			flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
			flags.SortFlags = false
			list = append(list, flagGroup{title, flags})
		}
		list[i].flags.AddFlag(f)
	})
	return list
}

// helpText prints the examples before the flags: most readers need no more.
func helpText(cmd *cobra.Command, _ []string) {
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, strings.TrimSpace(firstOf(cmd.Long, cmd.Short)))
	if cmd.HasExample() {
		fmt.Fprintf(out, "\nExamples:\n%s\n", cmd.Example)
	}
	fmt.Fprintln(out)
	usage(out, cmd)
}

func usageText(cmd *cobra.Command) error {
	usage(cmd.OutOrStderr(), cmd)
	return nil
}

func usage(out io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(out, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.Name() == "help" {
		listCommands(out, "Topics", cmd)
	} else if cmd.HasAvailableSubCommands() {
		listCommands(out, "Commands", cmd)
	}
	for _, sub := range cmd.Commands() {
		if sub.Name() == "help" {
			listCommands(out, "Topics (bulkcat help TOPIC)", sub)
		}
	}
	cmd.InitDefaultHelpFlag()
	for _, g := range groups(cmd) {
		fmt.Fprintf(out, "\n%s:\n%s", g.title, g.flags.FlagUsagesWrapped(100))
	}
	fmt.Fprintf(out, "\nEvery flag can be set in the environment: --part-rows as BULKCAT_PART_ROWS.\n\n%s", exitStatuses)
}

// listCommands lists what is below a command under a title.
func listCommands(out io.Writer, title string, cmd *cobra.Command) {
	fmt.Fprintf(out, "\n%s:\n", title)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			fmt.Fprintf(out, "  %-15s %s\n", sub.Name(), sub.Short)
		}
	}
}

// print prints a result as text, or as one line of JSON.
func (s streams) print(result interface{ WriteText(io.Writer) error }, asJSON bool) error {
	if asJSON {
		return writeJSON(s.out, result)
	}
	return result.WriteText(s.text())
}

// takeParameters removes the parameters from the paths that are URLs: see storage.Objects.TakeParameters.
func takeParameters(ctx context.Context, paths ...*string) (err error) {
	for _, path := range paths {
		if *path, err = storage.From(ctx).TakeParameters(*path); err != nil {
			return &usageError{err}
		}
	}
	return nil
}

// writeJSON writes a value as one line.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
