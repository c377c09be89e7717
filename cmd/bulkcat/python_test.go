package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
)

const pythonOptions = "../../scripts/python/bulkcat/_options.py"

// TestPythonOptions keeps the options of the Python package equal to the flags of the runs.
func TestPythonOptions(t *testing.T) {
	text := pythonModule()
	if *update {
		if err := os.WriteFile(pythonOptions, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, pythonOptions) != text {
		t.Fatalf("%s differs from the flags: run go test ./cmd/bulkcat -run TestPythonOptions -update", pythonOptions)
	}
}

func pythonModule() string {
	kinds := []client.Kind{client.Website, client.Product}
	var options [2][]pythonOption
	for i, kind := range kinds {
		cmd, _ := newRunCommand(streams{}, kind)
		options[i] = pythonOptionsOf(cmd, "output", "column", "dry-run") // which are parameters of the functions
	}
	var types, tables strings.Builder
	types.WriteString("\n    class RunOptions(TypedDict, total=False):\n        \"\"\"The options for websites and products.\"\"\"\n\n")
	tables.WriteString("\n# name: (type, group)\n_RUN = {\n")
	for _, o := range options[0] {
		if slices.ContainsFunc(options[1], func(other pythonOption) bool { return o == other }) {
			types.WriteString(o.typed())
		}
		if slices.Contains(options[1], o) {
			tables.WriteString(o.entry())
		}
	}
	tables.WriteString("}\n")
	for i, kind := range kinds {
		title := strings.ToUpper(string(kind)[:1]) + string(kind)[1:]
		fmt.Fprintf(&types, "\n    class %sOptions(RunOptions, total=False):\n        \"\"\"The options for %ss.\"\"\"\n\n", title, kind)
		fmt.Fprintf(&tables, "\n%s = {\n    **_RUN,\n", strings.ToUpper(string(kind)))
		for _, o := range options[i] {
			if !slices.ContainsFunc(options[1-i], func(other pythonOption) bool { return o == other }) {
				types.WriteString(o.typed())
			}
			if !slices.Contains(options[1-i], o) {
				tables.WriteString(o.entry())
			}
		}
		tables.WriteString("}\n")
	}
	tables.WriteString("\nCOMMANDS = {\n")
	for _, cmd := range []*cobra.Command{newVerify(streams{}), newDiff(streams{}), newTop(streams{}), newExplain(streams{}), newUsage(streams{})} {
		title := strings.ToUpper(cmd.Name()[:1]) + cmd.Name()[1:]
		fmt.Fprintf(&types, "\n    class %sOptions(TypedDict, total=False):\n        \"\"\"The options for %s.\"\"\"\n\n", title, cmd.Name())
		fmt.Fprintf(&tables, "    %q: {\n", cmd.Name())
		for _, o := range pythonOptionsOf(cmd, "json") { // which the functions give
			types.WriteString(o.typed())
			tables.WriteString("    " + o.entry())
		}
		tables.WriteString("    },\n")
	}
	tables.WriteString("}\n")
	return pythonHead + types.String() + tables.String()
}

// pythonOption is an option of a function.
type pythonOption struct{ name, kind, group string }

func (o pythonOption) typed() string { return fmt.Sprintf("        %s: %s\n", o.name, o.kind) }

func (o pythonOption) entry() string {
	return fmt.Sprintf("    %q: (%q, %q),\n", o.name, o.kind, o.group)
}

// pythonOptionsOf are the flags of a command, except for some and those of the log, which the package reads, and the key if the
// command asks a hosted service.
func pythonOptionsOf(cmd *cobra.Command, except ...string) (options []pythonOption) {
	except = append(except, "log-format", "quiet", "debug")
	for _, g := range groups(cmd) {
		g.flags.VisitAll(func(f *pflag.Flag) {
			if f.Name == "api-key-file" {
				options = append(options, pythonOption{"api_key", "str", g.title})
			}
			if !slices.Contains(except, f.Name) {
				options = append(options, pythonOption{strings.ReplaceAll(f.Name, "-", "_"), pythonType(f), g.title})
			}
		})
	}
	return options
}

const pythonHead = `# Written by go test ./cmd/bulkcat -run TestPythonOptions -update from the flags of the program.
"""The options of the functions: the flags of the program with underscores."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from os import PathLike
    from typing import TypedDict
`

// pythonType is the type of a flag's values.
func pythonType(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "bool"
	case "int", "int64":
		return "int"
	case "float64", "AMOUNT":
		return "float"
	case "duration":
		return "timedelta | float | str"
	case "AGE":
		return "timedelta | str"
	case "TIME":
		return "datetime | timedelta | str"
	case "RATE", "X", "SHARE":
		return "float | str"
	case "stringArray":
		return "str | list[str]"
	}
	if _, list := f.Value.(*listValue); list {
		return "str | list[str]"
	}
	if name, _ := pflag.UnquoteUsage(f); name == "FILE" || name == "RUN" {
		return "str | PathLike[str]"
	}
	return "str"
}
