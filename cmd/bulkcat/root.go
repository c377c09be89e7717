package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline/storage"
)

// streams are the standard streams and the signals of the program. Tests replace them.
type streams struct {
	in      io.Reader
	out     io.Writer
	err     *terminal.Console
	signals *signals
	lost    *error // the first error of a write of text; set by execute
}

// text returns standard output for text that is no data: see terminal.Printable. Commands may ignore write errors: execute returns the first.
func (s streams) text() io.Writer { return terminal.Printable(textWriter{s.out, s.lost}) }

// textWriter keeps the first error of a write.
type textWriter struct {
	io.Writer
	lost *error
}

func (w textWriter) Write(text []byte) (int, error) {
	n, err := w.Writer.Write(text)
	if *w.lost == nil {
		*w.lost = err
	}
	return n, err
}

func execute(ctx context.Context, args []string, s streams) error {
	s.lost = new(error)
	root := newRoot(s)
	args, all := takeHelpAll(args)
	root.SetHelpFunc(helpText(all))
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
	cmd, err := root.ExecuteContextC(storage.With(ctx, new(storage.Objects)))
	err = cmp.Or(flagged(err), *s.lost)
	if err != nil && !running { // the command line is wrong
		return &usageError{fmt.Errorf("%w\nRun '%s --help' for usage", err, cmd.CommandPath())}
	}
	return err
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "bulkcat COMMAND",
		Short: "Categorize millions of websites or products into Parquet or CSV",
		Long: `bulkcat categorizes long lists of websites or product titles and writes one flat
row per category. It asks the Categorization Service at BULKCAT_BASE_URL with the key
in BULKCAT_API_KEY; without a base URL the embedded service answers, on this machine.
Every answer is stored on disk: a run that is started again asks only for the rest.`,
		Example: `  bulkcat website domains.csv -o domains.parquet
  bulkcat product catalog.jsonl --column title -o catalog.csv --rate 50/s
  cat domains.txt | bulkcat website - -o - --output-format jsonl`,
		Version:               thisBuild().String(),
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		SilenceUsage:          true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	addCommands(root, "Categorize", newWebsite(s), newProduct(s), newRun(s))
	addCommands(root, "Look at an output", newReport(s), newTop(s), newDiff(s), newVerify(s), newFinish(s))
	addCommands(root, "Serve a team", newServe(s), newUsage(s), newProbe(s), newStore(s))
	addCommands(root, "Have categories of your own", newTaxonomy(s), newLearn(s), newEval(s), newExplain(s))
	addCommands(root, "More", newDemo(s), newHelp(), newVersion(s))
	root.SetCompletionCommandGroupID("More")
	root.SetFlagErrorFunc(flagError)
	complete(root)
	return root
}

// fromEnvironment sets flags that are not on the command line from their variables, such as --part-rows from BULKCAT_PART_ROWS.
func fromEnvironment(flags *pflag.FlagSet) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value, ok := os.LookupEnv(name)
		if f.Changed || !ok || value == "" || f.Name == "help" {
			return
		}
		err := errors.Join(flags.Set(f.Name, value), flags.SetAnnotation(f.Name, fromVariable, []string{name}))
		if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			err = valueError(f, value, invalid.Unwrap())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	})
	return errors.Join(errs...)
}

// fromVariable annotates the flags that fromEnvironment has set.
const fromVariable = "bulkcat_variable"

// given reports whether a flag is on the command line. A variable is set for all commands, so a command without a use for
// its value is no error.
func given(flags *pflag.FlagSet, name string) bool {
	f := flags.Lookup(name)
	return f.Changed && f.Annotations[fromVariable] == nil
}

func variable(flag string) string {
	return "BULKCAT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// anyNumber is no bound of the number of operands.
const anyNumber = math.MaxInt

// operands returns a check of the number of operands: at least least, and at most most. missing is the text of the error for too
// few operands.
func operands(least, most int, missing string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return errors.New(missing)
		case len(args) > most:
			return fmt.Errorf("there is no place for %q", args[most:])
		}
		return nil
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
