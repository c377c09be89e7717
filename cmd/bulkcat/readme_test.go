package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write what is generated instead of comparing it")

const readme = "../../README.md"

// TestReadmeFlags keeps the README's tables of flags equal to the code.
func TestReadmeFlags(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile(`(?s)(<!-- flags:[^\n]*-->\n).*(<!-- /flags -->)`)
	if !section.Match(text) {
		t.Fatal("the README has no section of flags")
	}
	want := section.ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(flagTables(), "$", "$$")+"${2}"))
	if bytes.Equal(text, want) {
		return
	}
	if !*update {
		t.Fatal("the README's flags are not the code's: run go test ./cmd/bulkcat -run TestReadme -update")
	}
	if err := os.WriteFile(readme, want, 0o666); err != nil {
		t.Fatal(err)
	}
}

func flagTables() string {
	var b strings.Builder
	for _, cmd := range newRoot(streams{}).Commands() {
		groups := groups(cmd)
		if len(groups) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### bulkcat %s\n\n| flag | default | meaning |\n|---|---|---|\n", cmd.Name())
		for _, g := range groups {
			fmt.Fprintf(&b, "| **%s** | | |\n", g.title)
			g.flags.VisitAll(func(f *pflag.Flag) { flagRow(&b, f) })
		}
	}
	return b.String() + "\n"
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
	if f.DefValue != "" && f.DefValue != "false" {
		fallback = "`" + f.DefValue + "`"
	}
	cell := strings.NewReplacer("|", `\|`)
	fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell.Replace(name), fallback, cell.Replace(meaning))
}

// TestReadmeDependencies keeps the README's table of dependencies equal to go.mod.
func TestReadmeDependencies(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{if not (or .Indirect .Main)}}{{.Path}}{{end}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	direct := strings.Fields(string(out))
	for _, module := range direct {
		if !bytes.Contains(text, []byte("| `"+module+"` |")) {
			t.Errorf("the README says nothing about %s", module)
		}
	}
	_, table, _ := strings.Cut(string(text), "## Dependencies")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(table, -1) {
		if module := row[1]; module != "honnef.co/go/tools" && !strings.Contains(" "+strings.Join(direct, " ")+" ", " "+module+" ") {
			t.Errorf("%s is in the README but is no direct dependency", module)
		}
	}
}

// TestReadmeExitStatuses keeps the lists of exit statuses in the help and the README equal.
func TestReadmeExitStatuses(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{exitComplete, exitFailed, exitUsage, exitUnanswered, exitStopped, exitInterrupted} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d\b`, status)).Match(text) {
			t.Errorf("the README does not list exit status %d", status)
		}
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^  %d\b`, status)).MatchString(exitStatuses) {
			t.Errorf("the help does not list exit status %d", status)
		}
	}
}
