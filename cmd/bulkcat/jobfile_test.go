package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/jobs"
)

// TestJobFileKeys gives each key values of all types of TOML. Those of the wrong type are refused.
func TestJobFileKeys(t *testing.T) {
	// The flag types that take each value.
	values := map[string]string{
		`"x"`: "text", `true`: "bool", `-1`: "int int64 AMOUNT", `1.5`: "AMOUNT", `2026-11-25`: "", `2026-11-25T08:00:00Z`: "", `08:00:00`: "",
		`["x"]`: "stringArray", `[1, "x"]`: "", `[["x"]]`: "", `{a = 1}`: "", `{a = "> 1"}`: "expect", `{a.b = "> 1"}`: "expect", `[{a = "x"}]`: "",
	}
	cmd, _ := newRunCommand(streams{}, client.Product)
	path := filepath.Join(t.TempDir(), "jobs.toml")
	for text, takers := range values {
		if err := os.WriteFile(path, []byte("[[job]]\nkind = \"product\"\ninput = \"a.csv\"\nkey = "+text+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := jobs.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		job, err := file.Job(0)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			err := setFlag(cmd.Flags(), f.Name, job.Settings[0].Value)
			kind := f.Value.Type()
			switch kind {
			case "bool", "int", "int64", "AMOUNT":
			case "stringArray":
				kind = "stringArray text"
				if f.Name == "expect" {
					kind += " expect"
				}
			default:
				kind = "text"
			}
			wrong := true
			for _, k := range strings.Fields(kind) {
				wrong = wrong && !strings.Contains(" "+takers+" ", " "+k+" ")
			}
			if wrong && (err == nil || !strings.HasPrefix(err.Error(), f.Name+": ")) {
				t.Errorf("%s = %s: %v", f.Name, text, err)
			}
		})
		for _, key := range []string{"colour", "part_rows", ""} {
			if err := setFlag(cmd.Flags(), key, job.Settings[0].Value); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("unknown key %s", key)) {
				t.Errorf("%q = %s: %v", key, text, err)
			}
		}
	}
}
