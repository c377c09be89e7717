package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	var types, tables strings.Builder
	for _, kind := range []client.Kind{client.Website, client.Product} {
		cmd, _ := newRunCommand(streams{}, kind)
		title := strings.ToUpper(string(kind)[:1]) + string(kind)[1:]
		fmt.Fprintf(&types, "\n    class %sOptions(TypedDict, total=False):\n        \"\"\"The options for %ss.\"\"\"\n\n        api_key: str\n", title, kind)
		fmt.Fprintf(&tables, "\n# name: (type, meaning)\n%s = {\n    \"api_key\": (\"str\", \"the key of the hosted service (default: BULKCAT_API_KEY)\"),\n", strings.ToUpper(string(kind)))
		for _, g := range groups(cmd) {
			g.flags.VisitAll(func(f *pflag.Flag) {
				if slices.Contains([]string{"output", "column", "dry-run"}, f.Name) { // parameters of the functions
					return
				}
				option := strings.ReplaceAll(f.Name, "-", "_")
				fmt.Fprintf(&types, "        %s: %s\n", option, pythonType(f))
				fmt.Fprintf(&tables, "    %q: (%q, %s),\n", option, pythonType(f), strconv.QuoteToASCII(pythonHelp(f)))
			})
		}
		tables.WriteString("}\n")
	}
	return pythonHead + types.String() + tables.String()
}

const pythonHead = `# Written by go test ./cmd/bulkcat -run TestPythonOptions -update from the flags of the program.
"""The options of the functions: the flags of the program with underscores."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict
`

// pythonType is the type of a flag's values.
func pythonType(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "bool"
	case "int", "int64":
		return "int"
	case "float64":
		return "float"
	case "duration":
		return "str | float"
	case "stringArray":
		return "str | list[str]"
	}
	if _, list := f.Value.(*listValue); list {
		return "str | list[str]"
	}
	return "str"
}

// pythonHelp is the meaning of a flag, with its default.
func pythonHelp(f *pflag.Flag) string {
	_, meaning := pflag.UnquoteUsage(f)
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && !strings.Contains(meaning, "(default") {
		meaning += " (default " + f.DefValue + ")"
	}
	return meaning
}
