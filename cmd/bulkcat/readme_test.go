package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write what is generated instead of comparing it")

const (
	answersPage = "guide/answers.md"
	nightsPage  = "guide/nights.md"
	flagsPage   = "README.md" // beside this file
)

// TestReadmeFlags keeps the page of commands and flags equal to the code.
func TestReadmeFlags(t *testing.T) {
	text := read(t, flagsPage)
	section := regexp.MustCompile(`(?s)(<!-- flags:[^\n]*-->\n).*(<!-- /flags -->)`)
	if !section.MatchString(text) {
		t.Fatal("the page has no section of flags")
	}
	want := section.ReplaceAllString(text, "${1}"+strings.ReplaceAll(flagSections(), "$", "$$")+"${2}")
	if text == want {
		return
	}
	if !*update {
		t.Fatal("cmd/bulkcat/README.md differs from the code: run go test ./cmd/bulkcat -run TestReadme -update")
	}
	if err := os.WriteFile(flagsPage, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

// flagSections describes each command in a section of its own.
func flagSections() string {
	var b strings.Builder
	for _, cmd := range allCommands(newRoot(streams{}))[1:] {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", cmd.CommandPath(), description(cmd))
		if cmd.Runnable() {
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", cmd.UseLine())
		}
		flagTable(&b, cmd)
	}
	return b.String() + "\n"
}

// description is a command's text of the help, in Markdown: indented lines are code.
func description(cmd *cobra.Command) string {
	text := strings.TrimRight(cmp.Or(cmd.Long, cmd.Short), ".\n") + "."
	return strings.ReplaceAll(text, "\n  ", "\n    ")
}

func flagTable(b *strings.Builder, cmd *cobra.Command) {
	groups := groups(cmd)
	if len(groups) == 0 {
		return
	}
	fmt.Fprint(b, "\n| flag | default | meaning |\n|---|---|---|\n")
	for _, g := range groups {
		fmt.Fprintf(b, "| **%s** | | |\n", g.title)
		g.flags.VisitAll(func(f *pflag.Flag) { flagRow(b, f) })
	}
}

func flagRow(b *strings.Builder, f *pflag.Flag) {
	value, meaning := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value != "" {
		name += " " + value
	}
	fallback := ""
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
		fallback = "`" + f.DefValue + "`"
	}
	cell := strings.NewReplacer("|", `\|`)
	fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell.Replace(name), fallback, cell.Replace(meaning))
}

// TestReadmeExitStatuses wants the exit statuses of the code, with equal meanings, in the help and in
// the guide.
func TestReadmeExitStatuses(t *testing.T) {
	help := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^  (\d+) +(.*(?:\n {5,}.*)*)$`).FindAllStringSubmatch(exitStatuses, -1) {
		help[m[1]] = strings.Join(strings.Fields(m[2]), " ")
	}
	table := make(map[string]string)
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`).FindAllStringSubmatch(read(t, nightsPage), -1) {
		table[m[1]] = strings.ReplaceAll(m[2], "`", "")
	}
	if !maps.Equal(help, table) {
		t.Errorf("the help says\n%v\nand the guide says\n%v", help, table)
	}
	for _, status := range statuses {
		if help[fmt.Sprint(status)] == "" {
			t.Errorf("the help does not list exit status %d", status)
		}
	}
	if len(help) != len(statuses) {
		t.Errorf("the help lists %d exit statuses, and the code has %d", len(help), len(statuses))
	}
}

// statuses are the exit statuses of the code.
var statuses = []int{exitComplete, exitFailed, exitUsage, exitUnanswered, exitBroken, exitSpent, exitStopped, exitInterrupted, exitUnread, exitTerminated}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
}
