package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

var man = flag.String("man", "", "write the man pages into `FOLDER`, as make man does")

// TestManPages writes a man page for each command. A page names every flag of its command and the
// exit statuses. Its date is today, or SOURCE_DATE_EPOCH in seconds since 1970.
func TestManPages(t *testing.T) {
	folder := *man
	if folder == "" {
		folder = t.TempDir()
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	header := &doc.GenManHeader{Title: "BULKCAT", Section: "1", Source: "bulkcat", Manual: "bulkcat"}
	root := newRoot(streams{})
	root.DisableAutoGenTag = true
	commands := allCommands(root)
	for _, cmd := range commands {
		cmd.Long = literal(description(cmd)) + "\n\n" + code(exitStatuses)
		cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = literal(f.Usage) })
	}
	if err := doc.GenManTree(root, header, folder); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range commands {
		page, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		text := strings.ReplaceAll(string(page), `\-`, "-")
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("the man page of %s does not name --%s", cmd.CommandPath(), f.Name)
			}
		})
		if !strings.Contains(text, cmd.UseLine()) || strings.Contains(text, `\fI`) {
			t.Errorf("the man page of %s takes underscores for emphasis", cmd.CommandPath())
		}
		if !strings.Contains(text, strings.TrimSpace(exitStatuses)) {
			t.Errorf("the man page of %s does not list the exit statuses", cmd.CommandPath())
		}
	}
}

// allCommands are a command and all below it, in the order of the help.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		list = append(list, allCommands(sub)...)
	}
	return list
}

// literal keeps Markdown from taking the underscores of names for emphasis.
func literal(text string) string { return strings.ReplaceAll(text, "_", `\_`) }

// code makes a text code, in Markdown.
func code(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}
