package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// howto is the page "How do I …": after its introduction, each topic is a section with a heading of the form
// "## TOPIC: what a user wants to do".
//
//go:embed HOWTO.md
var howto string

// newHelp makes the command help, for commands and for topics. The topics are commands below it.
func newHelp() *cobra.Command {
	help := &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Help about a command, or about a topic",
		Long:  "Show the help of a command, or the section of the page \"How do I …\" about a topic.",
		Example: `  bulkcat help website
  bulkcat help proxy`,
		ValidArgsFunction: completeCommands,
		RunE: func(cmd *cobra.Command, args []string) error {
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

// completeCommands completes the names of commands; cobra itself completes those of topics.
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

// unknownTopic is the error of a word that names neither a topic nor a command below the one that was found. It says how
// to ask for those that are spelt like the word, or else for the topics whose text has the word.
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
		return fmt.Errorf("there is no command or topic %q: 'bulkcat help' lists them", word)
	}
	return fmt.Errorf("there is no command or topic %q: see 'bulkcat help %s'", word, strings.Join(near, "' or 'bulkcat help "))
}

// spelt are the names below a command that are like a word: they begin with it, or a third of the letters differs.
func spelt(cmd *cobra.Command, word string) []string {
	cmd.SuggestionsMinimumDistance = max(1, len(word)/3)
	return cmd.SuggestionsFor(word)
}

// topicsWith are the topics whose text has a word.
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

// plain is a text in Markdown as a terminal shows it: code is indented, and of links only their text is left.
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
