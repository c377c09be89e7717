package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
  75   stopped early and resumable (quota, deadline or outage), or --partial or --offline
       left records pending
  130  interrupted and resumable
  141  the reader of -o - has exited, as head does after its rows; nothing is printed, and
       the run is resumable
  143  terminated, or the terminal was closed, and resumable
`

// statusLine is exitStatuses in one line.
const statusLine = "Exit status: 0 complete, 1 failed, 2 usage, 3 unanswered, 4 expectation, 5 budget, 75 resumable"

// helpAll is the flag for the whole help. It is no flag of a command: see takeHelpAll.
const helpAll = "--help-all"

// everyday has, for commands with many flags, the flags that most users need and --help shows: at most 24.
var everyday = map[string]string{
	"website": everydayOfRuns,
	"product": everydayOfRuns,
	"serve":   "addr api-key-file upstream upstream-key-file state store max-age rate reserve price fetch taxonomy model max-in-flight access-log listen quiet",
	"learn":   "input-column label-column store limit output suspects overwrite json kind classification taxonomy",
}

// howto is the page "How do I …". After the introduction, each topic is a section with a heading of the form "## TOPIC: what a
// user wants to do".
//
//go:embed HOWTO.md
var howto string

// addCommands adds commands under a title.
func addCommands(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, cmd := range commands {
		cmd.GroupID = title
		if cmd.Name() == "help" {
			root.SetHelpCommand(cmd)
			root.SetHelpCommandGroupID(title)
			continue
		}
		root.AddCommand(cmd)
	}
}

// takeHelpAll replaces --help-all by --help, and reports whether it was given.
func takeHelpAll(args []string) (_ []string, all bool) {
	i := slices.Index(args, helpAll)
	if end := slices.Index(args, "--"); i < 0 || end >= 0 && end < i {
		return args, false
	}
	args = slices.Clone(args)
	args[i] = "--help"
	return args, true
}

// flagGroup is a group of flags under a title in the help.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// groups returns the flags of a command by title, in the order in which they were added.
func groups(cmd *cobra.Command) []flagGroup {
	var list []flagGroup
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		title := "Other"
		if a := f.Annotations[groupAnnotation]; len(a) > 0 {
			title = a[0]
		}
		i := slices.IndexFunc(list, func(g flagGroup) bool { return g.title == title })
		if i < 0 {
			i = len(list)
			list = append(list, flagGroup{title, newFlags(title)})
		}
		list[i].flags.AddFlag(f)
	})
	return list
}

func newFlags(title string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
	flags.SortFlags = false
	return flags
}

// everydayFlags returns the flags in everyday, each with the first part of its text; nil if --help shows all flags of the command.
func everydayFlags(cmd *cobra.Command) *pflag.FlagSet {
	names, ok := everyday[cmd.Name()]
	if !ok {
		return nil
	}
	flags := newFlags("Flags")
	for name := range strings.FieldsSeq(names) {
		if f := cmd.Flags().Lookup(name); f != nil {
			short := *f
			short.Usage = firstPart(f.Usage)
			flags.AddFlag(&short)
		}
	}
	return flags
}

// firstPart returns a text up to the first semicolon that is not in parentheses.
func firstPart(text string) string {
	open := 0
	for i, r := range text {
		switch {
		case r == '(':
			open++
		case r == ')':
			open--
		case r == ';' && open == 0:
			return text[:i]
		}
	}
	return text
}

// helpText returns the function that prints the help of a command. Examples precede the flags, because most readers need no more.
func helpText(all bool) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) {
		out := cmd.OutOrStdout()
		var flags *pflag.FlagSet
		if !all {
			flags = everydayFlags(cmd)
		}
		examples := strings.Split(cmd.Example, "\n")
		if flags != nil {
			examples = examples[:min(2, len(examples))]
		}
		fmt.Fprintln(out, strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)))
		if cmd.HasExample() {
			fmt.Fprintf(out, "\nExamples:\n%s\n", strings.Join(examples, "\n"))
		}
		fmt.Fprintf(out, "\nUsage:\n  %s\n", cmd.UseLine())
		listCommands(out, cmd)
		cmd.InitDefaultHelpFlag()
		switch {
		case !cmd.HasParent(): // -h and -v
		case flags != nil:
			fmt.Fprintf(out, "\nFlags:\n%s\nAll flags: bulkcat %s %s\n", flags.FlagUsagesWrapped(100), cmd.Name(), helpAll)
		default:
			for _, g := range groups(cmd) {
				fmt.Fprintf(out, "\n%s:\n%s", g.title, g.flags.FlagUsagesWrapped(100))
			}
		}
		switch {
		case all:
			fmt.Fprintf(out, "\nEvery flag can be set in the environment: --part-rows as BULKCAT_PART_ROWS.\n\n%s", exitStatuses)
		case !cmd.HasParent():
			fmt.Fprintf(out, "\nHelp: bulkcat COMMAND --help for a command, bulkcat help topics for texts on what users want to do.\n%s\n", statusLine)
		default:
			fmt.Fprintf(out, "\n%s\n", statusLine)
		}
	}
}

// listCommands lists the subcommands of a command by group.
func listCommands(out io.Writer, cmd *cobra.Command) {
	list := func(title, group string) {
		fmt.Fprintf(out, "\n%s\n", title)
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
				fmt.Fprintf(out, "  %-15s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	switch {
	case cmd.Name() == "help":
		list("Topics:", "")
	case len(cmd.Groups()) > 0:
		for _, g := range cmd.Groups() {
			list(g.Title, g.ID)
		}
	case cmd.HasAvailableSubCommands():
		list("Commands:", "")
	}
}

// flagError completes the error of a flag: it says what the value must be, or names the flags that are spelt like an unknown flag.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, valueError(invalid.GetFlag(), invalid.GetValue(), invalid.Unwrap()))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	names := new(cobra.Command)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	if near := spelt(names, unknown.GetSpecifiedName()); len(near) > 0 {
		return fmt.Errorf("%w: did you mean --%s?", err, strings.Join(near, " or --"))
	}
	return err
}

// valueError returns the error of a value. It replaces cause, the error of the standard library, for common types.
func valueError(f *pflag.Flag, value string, cause error) error {
	switch f.Value.Type() {
	case "int", "int64":
		return fmt.Errorf("%q is no whole number, such as 1000", value)
	case "float64":
		return fmt.Errorf("%q is no number, such as 0.5", value)
	case "duration":
		return fmt.Errorf("%q is no duration: write 30s, 5m or 2h", value)
	case "bool":
		return fmt.Errorf("%q is neither true nor false", value)
	}
	return cause
}

// newHelp makes the command help, for commands and for topics. The topics are its subcommands.
func newHelp() *cobra.Command {
	help := &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Help about a command, or about a topic",
		Long:  "Show the help of a command, or the section of the page \"How do I …\" about a topic.",
		Example: `  bulkcat help website
  bulkcat help proxy`,
		ValidArgsFunction: completeCommands,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"topics"}) {
				return cmd.Help()
			}
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &usageError{unknownTopic(found, cmd, rest[0])}
			}
			return found.Help()
		},
	}
	_, sections, _ := strings.Cut(howto, "\n## ")
	for section := range strings.SplitSeq(sections, "\n## ") {
		heading, text, _ := strings.Cut(section, "\n")
		name, short, _ := strings.Cut(heading, ": ")
		short = strings.ToUpper(short[:1]) + short[1:]
		help.AddCommand(&cobra.Command{
			Use: name, Short: short, Long: short + ".\n\n" + plain(text),
			Args: cobra.NoArgs,
			Run:  func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), cmd.Long) },
		})
	}
	return help
}

// completeCommands completes the names of commands; cobra completes the names of topics.
func completeCommands(help *cobra.Command, args []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
	cmd, _, err := help.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), prefix) {
			names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// unknownTopic returns the error of a word that names neither a topic nor a subcommand of the command that was found. The error
// suggests the commands and topics that are spelt like the word, or else the topics whose text has the word.
func unknownTopic(found, help *cobra.Command, word string) error {
	var near []string
	for _, name := range spelt(found, word) {
		near = append(near, strings.TrimPrefix(found.CommandPath()+" "+name, "bulkcat "))
	}
	if !found.HasParent() {
		near = append(near, spelt(help, word)...)
		if len(near) == 0 {
			near = topicsWith(help, word)
		}
	}
	if len(near) == 0 {
		return fmt.Errorf("there is no command or topic %q: 'bulkcat help' and 'bulkcat help topics' list them", word)
	}
	return fmt.Errorf("there is no command or topic %q: see 'bulkcat help %s'", word, strings.Join(near, "' or 'bulkcat help "))
}

// spelt returns the names of subcommands that begin with a word, or differ from it in at most a third of its letters.
func spelt(cmd *cobra.Command, word string) []string {
	cmd.SuggestionsMinimumDistance = max(1, len(word)/3)
	return cmd.SuggestionsFor(word)
}

// topicsWith returns the topics whose text has a word.
func topicsWith(help *cobra.Command, word string) (names []string) {
	for _, topic := range help.Commands() {
		if strings.Contains(strings.ToLower(topic.Long), strings.ToLower(word)) {
			names = append(names, topic.Name())
		}
	}
	return names
}

var (
	markdownLink  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	markdownMarks = strings.NewReplacer("`", "", "**", "")
)

// plain converts Markdown to plain text: it indents code, and replaces links by their texts.
func plain(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code && line != "\n":
			b.WriteString("    " + line)
		case code:
			b.WriteString(line)
		default:
			b.WriteString(markdownMarks.Replace(markdownLink.ReplaceAllString(line, "$1")))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
