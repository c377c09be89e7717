package jobs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/jobs"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jobs.toml")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestJobsHaveTheDefaults(t *testing.T) {
	file, err := jobs.Read(write(t, "[defaults]\nrate = \"50/s\"\nlevels = 2\n\n[[job]]\nkind = \"website\"\ninput = \"a.csv\"\nlevels = 3\n\n[[job]]\nkind = \"product\"\ninput = [\"b.csv\", \"c.csv\"]\n"))
	if err != nil || file.Len() != 2 {
		t.Fatal(file, err)
	}
	for i, want := range []string{
		`{5 website [a.csv] [{rate 50/s 2 true} {levels 3 8 false}]}`,
		`{10 product [b.csv c.csv] [{rate 50/s 2 true} {levels 2 3 true}]}`,
	} {
		job, err := file.Job(i)
		if got := fmt.Sprint(job); err != nil || got != want {
			t.Errorf("job %d: got %s, %v; want %s", i, got, err, want)
		}
	}
}

// TestTables has each table of a file, with and without the others, in any order.
func TestTables(t *testing.T) {
	const job = "[[job]]\nkind = \"website\"\ninput = \"a\"\n"
	for _, tt := range []struct{ name, text, want string }{
		{"a job alone", job, `[]`},
		{"expectations of all jobs without other defaults", "[defaults.expect]\nok = \"> 1\"\n" + job, `[{expect map[ok:> 1] 1 true}]`},
		{"the defaults after their expectations", "[defaults.expect]\nok = \"> 1\"\n[defaults]\nrate = \"1/s\"\n" + job, `[{expect map[ok:> 1] 1 true} {rate 1/s 4 true}]`},
		{"the defaults after the jobs", job + "[defaults]\nlevels = 2\n[defaults.expect]\nok = \"> 1\"\n", `[{levels 2 5 true} {expect map[ok:> 1] 6 true}]`},
		{"empty defaults", "[defaults]\n" + job, `[]`},
		{"expectations of a job", job + "[job.expect]\nok = \"> 1\"\n", `[{expect map[ok:> 1] 4 false}]`},
		{"expectations of both", "[defaults.expect]\nok = \"> 1\"\n" + job + "[job.expect]\nok = \"> 2\"\n", `[{expect map[ok:> 2] 6 false}]`},
		{"values of other types", job + "a = [1, {b = 2026-11-25}]\nexpect = 5\n", `[{a [1 map[b:2026-11-25]] 4 false} {expect 5 5 false}]`},
	} {
		file, err := jobs.Read(write(t, tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got, err := file.Job(0)
		if err != nil || fmt.Sprint(got.Settings) != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.name, got.Settings, err, tt.want)
		}
	}
}

func TestJobsAfterByteOrderMark(t *testing.T) {
	file, err := jobs.Read(write(t, "\ufeff[[job]]\nkind = \"website\"\ninput = \"a.csv\"\n"))
	if err != nil || file.Len() != 1 {
		t.Error(file, err)
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no job", "[defaults]\n", "has no job"},
		{"syntax", "[[job]]\nkind = \n", "jobs.toml:2: "},
		{"another table", "[job]\nkind = \"website\"\n", "jobs.toml:1: there is no table job"},
		{"a table of a job above the jobs", "[job.expect]\nok = \"> 1\"\n", "jobs.toml:1: there is no table job.expect"},
		{"a table whose name has a point", "[[job]]\n[\"job.expect\"]\nok = \"> 1\"\n", "jobs.toml:2: there is no table job.expect"},
		{"defaults that are a list", "[[defaults]]\n[[job]]\n", "jobs.toml:1: there is no table defaults"},
		{"defaults that are a number", "defaults = 1\n[[job]]\n", "jobs.toml:1: defaults stands above the tables"},
		{"jobs that are a value", "job = [{kind = \"website\"}]\n", "jobs.toml:1: job stands above the tables"},
		{"a list of expectations", "[[job]]\n[[job.expect]]\n", "jobs.toml:2: there is no table job.expect"},
		{"a table in the expectations", "[[job]]\n[job.expect.ok]\n", "jobs.toml:2: there is no table job.expect.ok"},
		{"a table of another key", "[[job]]\n[job.rate]\nok = \"> 1\"\n", "jobs.toml:2: there is no table job.rate"},
		{"a key above", "rate = 1\n[[job]]\n", "jobs.toml:1: rate stands above the tables"},
		{"no kind", "[[job]]\ninput = \"a\"\n", "jobs.toml:1: the job has no kind"},
		{"wrong kind", "[[job]]\nkind = \"person\"\n", `jobs.toml:2: kind: "person" must be`},
		{"no input", "[[job]]\nkind = \"website\"\n", "jobs.toml:1: the job has no input"},
		{"wrong input", "[[job]]\nkind = \"website\"\ninput = 3\n", "jobs.toml:3: input: 3 must be"},
	} {
		file, err := jobs.Read(write(t, tt.text))
		if err == nil {
			_, err = file.Job(0)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestPairs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value any
		want  []string
		ok    bool
	}{
		{"a table", map[string]any{"ok": ">= 95%", "empty": "<= 5%"}, []string{"empty <= 5%", "ok >= 95%"}, true},
		{"a key with a point", map[string]any{"confidence": map[string]any{"mean": ">= 0.6"}}, []string{"confidence.mean >= 0.6"}, true},
		{"an empty table", map[string]any{}, nil, true},
		{"a number", map[string]any{"ok": int64(95)}, nil, false},
		{"a text", "ok >= 95%", nil, false},
	} {
		if got, ok := jobs.Pairs(tt.value); ok != tt.ok || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v; want %q, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// TestManyJobs reads a file whose time must not grow with the square of its size.
func TestManyJobs(t *testing.T) {
	const n = 100_000
	start := time.Now()
	file, err := jobs.Read(write(t, strings.Repeat("[[job]]\nkind = \"web\"\n", n)))
	if err != nil || file.Len() != n {
		t.Fatal(err)
	}
	if _, err := file.Job(n - 1); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("jobs.toml:%d: ", 2*n)) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
