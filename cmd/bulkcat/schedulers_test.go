//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded"
)

const schedulers = repository + "/scripts/schedulers"

// scheduled is a folder with the job file of a recipe's program, and a service whose quota is used up after 5
// requests until the file granted is there.
type scheduled struct {
	t   *testing.T
	dir string
	env []string
}

func newScheduled(t *testing.T) *scheduled {
	s := &scheduled{t: t, dir: t.TempDir()}
	writeTitles(t, filepath.Join(s.dir, "in.txt"), 20)
	s.write("jobs.toml", "[defaults]\nkind = \"product\"\ninput = \"in.txt\"\nworkers = 1\n[[job]]\noutput = \"out.csv\"\n")
	quota := embedded.New(embedded.Options{Grants: []embedded.Grant{{Key: testKey, Quota: 5}}})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.has("granted") {
			unlimited().ServeHTTP(w, r)
			return
		}
		quota.ServeHTTP(w, r)
	}))
	t.Cleanup(service.Close)
	s.env = []string{
		"PATH=" + filepath.Dir(selfAsBulkcat(t)) + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "TMPDIR=" + os.TempDir(),
		"BULKCAT_BASE_URL=" + service.URL, "GORACE=" + os.Getenv("GORACE"),
	}
	return s
}

func (s *scheduled) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scheduled) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

// run gives the output and the exit status of a command.
func (s *scheduled) run(env []string, name string, args ...string) (string, int) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Dir, cmd.Env = s.dir, append(s.env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), statusOf(err)
}

func (s *scheduled) wantComplete() {
	s.t.Helper()
	if rows := strings.Count(read(s.t, filepath.Join(s.dir, "out.csv")), "\n"); rows < 20 {
		s.t.Errorf("the output has %d lines", rows)
	}
}

// TestShellRecipe waits at 75 and continues, and ends at once with other failures.
func TestShellRecipe(t *testing.T) {
	script, err := filepath.Abs(schedulers + "/nightly.sh")
	if err != nil {
		t.Fatal(err)
	}
	s := newScheduled(t)
	s.write("bin/sleep", "#!/bin/sh\necho sleeps $1\n[ -e once ] && touch granted\ntouch once\n")
	key, path := "BULKCAT_API_KEY="+testKey, "PATH="+s.dir+"/bin:"+strings.TrimPrefix(s.env[0], "PATH=")
	out, status := s.run([]string{key, path}, script, "jobs.toml", "7")
	if status != exitComplete || strings.Count(out, "sleeps 7\n") != 2 {
		t.Errorf("exit status %d\n%s", status, out)
	}
	s.wantComplete()
	s.write("odd.txt", "http://[\n")
	s.write("odd.toml", "[[job]]\nkind = \"website\"\ninput = \"odd.txt\"\noutput = \"odd.csv\"\n")
	if out, status := s.run([]string{key, path}, script, "odd.toml"); status != 0 || !strings.Contains(out, "no answer") {
		t.Errorf("exit status %d after 3\n%s", status, out)
	}
	if out, status := s.run([]string{path, "BULKCAT_API_KEY=no-such-key-0123456789"}, script, "jobs.toml"); status != exitFailed || strings.Contains(out, "sleeps") {
		t.Errorf("exit status %d with a wrong key\n%s", status, out)
	}
	s.write("spent.toml", "[[job]]\nkind = \"product\"\ninput = \"in.txt\"\noutput = \"spent.csv\"\nstore = \"spent\"\nmax-requests = 2\n")
	for range 2 {
		if out, status := s.run([]string{key, path}, script, "spent.toml"); status != exitSpent || strings.Contains(out, "sleeps") {
			t.Errorf("exit status %d with a spent budget\n%s", status, out)
		}
	}
	s.write("missing.toml", "[[job]]\nkind = \"product\"\ninput = \"missing.txt\"\noutput = \"new.csv\"\n")
	if out, status := s.run([]string{key, path}, script, "missing.toml"); status != exitFailed || strings.Contains(out, "sleeps") {
		t.Errorf("exit status %d after 1\n%s", status, out)
	}
}

// TestCronRecipe runs the command of the crontab as cron does.
func TestCronRecipe(t *testing.T) {
	if _, err := exec.LookPath("flock"); err != nil {
		t.Skip("there is no flock")
	}
	table := schedulers + "/crontab"
	m := regexp.MustCompile(`(?m)^[\d*,-]+ [\d*,-]+ [\d*,-]+ [\d*,-]+ [\d*,-]+ ([^%\n]+)$`).FindAllStringSubmatch(read(t, table), -1)
	if len(m) != 1 {
		t.Fatalf("the crontab has %d commands", len(m))
	}
	if crontab, err := exec.LookPath("crontab"); err == nil {
		if out, err := exec.Command(crontab, "-n", table).CombinedOutput(); err != nil {
			t.Errorf("crontab: %v\n%s", err, out)
		}
	}
	s := newScheduled(t)
	if err := os.Symlink(s.dir, filepath.Join(s.dir, "lists")); err != nil {
		t.Fatal(err)
	}
	s.write(".config/bulkcat.env", "export BULKCAT_API_KEY="+testKey+"\n")
	if out, _ := s.run(nil, "sh", "-c", m[0][1]); out != "" || s.has("out.csv") {
		t.Errorf("at 75 the command writes %q, and cron sends a mail", out)
	}
	s.write("granted", "")
	if out, _ := s.run(nil, "sh", "-c", m[0][1]); out != "" {
		t.Errorf("at 0 the command writes %q", out)
	}
	s.wantComplete()
	s.write("jobs.toml", "[[job]]\n")
	if out, _ := s.run(nil, "sh", "-c", m[0][1]); !strings.Contains(out, "jobs.toml:1") {
		t.Errorf("at 2 the command writes %q", out)
	}
}

// TestSystemdRecipe has systemd check the units, with the program at a path that exists here, and runs the
// command of the service.
func TestSystemdRecipe(t *testing.T) {
	unit := read(t, schedulers+"/bulkcat.service")
	command := regexp.MustCompile(`(?m)^ExecStart=bulkcat (run) /etc/bulkcat/(jobs.toml) (.*)$`).FindStringSubmatch(unit)
	if command == nil {
		t.Fatal("the service does not run the job file")
	}
	for _, line := range []string{fmt.Sprintf("SuccessExitStatus=%d %d", exitUnanswered, exitTerminated), "Restart=on-failure", fmt.Sprintf("RestartPreventExitStatus=%d %d %d %d", exitFailed, exitUsage, exitBroken, exitSpent)} {
		if !strings.Contains(unit, "\n"+line+"\n") {
			t.Errorf("the service lacks %s", line)
		}
	}
	s := newScheduled(t)
	s.write("api-key", testKey+"\n")
	args := append([]string{command[1], command[2]}, strings.Fields(command[3])...)
	for _, want := range []int{exitStopped, exitComplete} {
		if out, status := s.run([]string{"BULKCAT_API_KEY_FILE=" + s.dir + "/api-key"}, "sh", append([]string{"-c", `exec bulkcat "$@"`, "sh"}, args...)...); status != want {
			t.Errorf("exit status %d, want %d\n%s", status, want, out)
		}
		s.write("granted", "")
	}
	s.wantComplete()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd-analyze")
	}
	verify := []string{"verify", "--man=no"} // the pages are those of the package
	for _, name := range []string{"bulkcat.service", "bulkcat.timer", "bulkcat-serve.service", "bulkcat-gateway.service"} {
		text := strings.Replace(read(t, schedulers+"/"+name), "ExecStart=bulkcat", "ExecStart=sh", 1)
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		verify = append(verify, name)
	}
	if out, status := s.run(nil, "systemd-analyze", verify...); status != 0 || out != "" {
		t.Errorf("exit status %d\n%s", status, out)
	}
}

// TestServiceUnits has bulkcat read the flags of the units that serve.
func TestServiceUnits(t *testing.T) {
	for _, name := range []string{"bulkcat-serve.service", "bulkcat-gateway.service"} {
		command := regexp.MustCompile(`(?m)^ExecStart=bulkcat (serve .*)$`).FindStringSubmatch(read(t, schedulers+"/"+name))
		if command == nil {
			t.Fatalf("%s does not serve", name)
		}
		s := newScheduled(t)
		if out, status := s.run(nil, "sh", "-c", "bulkcat "+command[1]+" --help"); status != exitComplete {
			t.Errorf("%s: exit status %d\n%s", name, status, out)
		}
	}
}

// TestUnitsHaveFoldersOfTheirOwn: with DynamicUser, systemd gives a folder to the unit that started last.
func TestUnitsHaveFoldersOfTheirOwn(t *testing.T) {
	units, err := filepath.Glob(schedulers + "/*.service")
	if err != nil || len(units) < 3 {
		t.Fatalf("units %q, %v", units, err)
	}
	for _, path := range units {
		unit, name := read(t, path), strings.TrimSuffix(filepath.Base(path), ".service")
		for _, folder := range regexp.MustCompile(`(?m)^(?:State|Runtime)Directory=(.*)$`).FindAllStringSubmatch(unit, -1) {
			if folder[1] != name {
				t.Errorf("%s has the folder %s", name, folder[1])
			}
		}
		for _, used := range regexp.MustCompile(`(?:%S|/var/lib)/([^/\s]+)`).FindAllStringSubmatch(unit, -1) {
			if used[1] != name {
				t.Errorf("%s uses the folder %s", name, used[1])
			}
		}
		if serves := strings.Contains(unit, "bulkcat serve "); serves != strings.Contains(unit, "\nExecReload=kill -HUP $MAINPID\n") {
			t.Errorf("%s: serves %v, which is to be read again at a reload", name, serves)
		}
	}
}

// TestSampleJobFile reads the sample.
func TestSampleJobFile(t *testing.T) {
	if opened, err := openJobs(t.Context(), streams{}, schedulers+"/jobs.toml", newRoot(streams{}).Flags()); err != nil || len(opened) == 0 {
		t.Errorf("%d jobs, %v", len(opened), err)
	}
}
