package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// store is the store of the user, in a folderOfRuns.
const store = "state/bulkcat/answers.db"

// folderOfRuns is a folder in which bulkcat runs over in.txt.
type folderOfRuns struct {
	t       *testing.T
	dir     string
	service *heldService
}

func newFolderOfRuns(t *testing.T, titles int) *folderOfRuns {
	f := &folderOfRuns{t: t, dir: t.TempDir(), service: holdAll(t)}
	writeTitles(t, filepath.Join(f.dir, "in.txt"), titles)
	return f
}

func (f *folderOfRuns) command(args ...string) *exec.Cmd {
	c := bulkcatCommand(f.t, f.dir, f.service.URL, append([]string{"product", "in.txt"}, args...)...)
	c.Env = append(c.Env, "XDG_STATE_HOME="+filepath.Join(f.dir, "state"))
	return c
}

func (f *folderOfRuns) start(args ...string) *process.Process {
	f.t.Helper()
	return start(f.t, f.command(args...))
}

func (f *folderOfRuns) there(name string) bool {
	_, err := os.Stat(filepath.Join(f.dir, name))
	return err == nil
}

func (s *heldService) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// TestRunsShareAStore starts a second run, with another output, while the first run asks: each request is made once. A
// third run asks nothing.
func TestRunsShareAStore(t *testing.T) {
	t.Parallel()
	f := newFolderOfRuns(t, 40)
	first := f.start("-o", "first.csv", "--limit", "20")
	<-f.service.holding
	second := f.start("-o", "second.csv")
	close(f.service.release)
	wantStatus(t, first, exitComplete)
	wantStatus(t, second, exitComplete)
	if told := second.Log(); !strings.Contains(told, " saved; ") || !strings.Contains(told, " from "+filepath.Join(f.dir, store)) {
		t.Errorf("the second says\n%s", told)
	}
	if asked := f.service.count(); asked != 40 {
		t.Errorf("%d requests were made", asked)
	}
	for _, name := range []string{"first.csv", "second.csv"} {
		account, err := runfiles.ReadAccount(t.Context(), filepath.Join(f.dir, name+".run.json"))
		if err != nil || account.Store != filepath.Join(f.dir, store) {
			t.Errorf("the account of %s: %+v, %v", name, account, err)
		}
	}
	third := f.start("-o", "third.csv")
	wantStatus(t, third, exitComplete)
	if told := third.Log(); !strings.Contains(told, "40 saved; 40 stored answers from ") || f.service.count() != 40 {
		t.Errorf("the third says\n%s", told)
	}
}

var (
	sharers     = flag.Int("sharers", 6, "processes of TestProcessesShareAStore")
	shareInputs = flag.Int("share-inputs", 200, "inputs of each process of TestProcessesShareAStore")
)

// TestProcessesShareAStore has runs over lists that overlap, and the clients of a gateway, ask at the same time. A third of
// the runs is killed, and started again. Each input is asked once, but for the requests that were in flight at a kill, or had
// been answered within the last moments before, and the outputs are those of runs that nothing disturbs. `make crash` has more
// of both.
func TestProcessesShareAStore(t *testing.T) {
	t.Parallel()
	const workers = 16
	dir := t.TempDir()
	service, err := clienttest.NewEndpoint(clienttest.New(clienttest.Options{Latency: 20 * time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	command := func(state string, args ...string) *exec.Cmd {
		c := bulkcatCommand(t, dir, service.URL(), args...)
		c.Env = append(c.Env, "XDG_STATE_HOME="+filepath.Join(dir, state))
		return c
	}
	run := func(state string, list int, output string) *exec.Cmd {
		return command(state, "product", fmt.Sprintf("in-%d.txt", list), "-o", output, "--workers", fmt.Sprint(workers), "--quiet")
	}
	for list := range *sharers {
		var titles strings.Builder
		for i := range *shareInputs {
			fmt.Fprintf(&titles, "Garden hose, %d m\n", list**shareInputs/4+i)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("in-%d.txt", list)), []byte(titles.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	inputs := (*sharers-1)**shareInputs/4 + *shareInputs

	addr, err := process.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "keys"), []byte("colleague\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gateway := start(t, command("shared", "serve", "--upstream", service.URL(), "--addr", addr, "--api-key-file", "keys"))
	if err := gateway.Ready(process.Listening(addr)); err != nil {
		t.Fatal(err)
	}
	colleagues, err := client.New(client.Options{BaseURL: "http://" + addr, APIKey: "colleague"})
	if err != nil {
		t.Fatal(err)
	}
	defer colleagues.Close()

	kills := 0
	var processes errgroup.Group
	for i := range 4 {
		processes.Go(func() error {
			for n := i; n < inputs; n += 16 { // a quarter of all
				_, err := colleagues.Attempt(t.Context(), client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: fmt.Sprintf("Garden hose, %d m", n)})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for list := range *sharers {
		moments := rand.New(rand.NewPCG(7, uint64(list)))
		killed := list%3 == 0
		if killed {
			kills += 2
		}
		processes.Go(func() error {
			for attempt := 0; ; attempt++ {
				p, err := process.Start(t.Context(), run("shared", list, fmt.Sprintf("out-%d.csv", list)), filepath.Join(dir, fmt.Sprintf("log-%d", list)))
				if err != nil {
					return err
				}
				if killed && attempt < 2 {
					select {
					case <-p.Ended():
					case <-time.After(time.Duration(200+moments.IntN(600+*shareInputs)) * time.Millisecond):
						p.Kill()
						continue
					}
				}
				if status := p.Status(); status != exitComplete {
					return fmt.Errorf("list %d: exit status %d\n%s", list, status, p.Log())
				}
				return nil
			}
		})
	}
	if err := processes.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Stop(os.Interrupt); err != nil {
		t.Error(err)
	}
	audit := service.Audit()
	t.Logf("%d inputs, %d answers, %d of them again after %d kills", inputs, audit.Answers, audit.Twice(), kills)
	if len(audit.Inputs) != inputs || audit.Twice() > kills*8*workers {
		t.Errorf("%d of %d inputs were asked, %d times again", len(audit.Inputs), inputs, audit.Twice())
	}
	for list := range *sharers {
		wantStatus(t, start(t, run("alone", list, fmt.Sprintf("alone-%d.csv", list))), exitComplete)
		want, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("alone-%d.csv", list)))
		got, gotErr := os.ReadFile(filepath.Join(dir, fmt.Sprintf("out-%d.csv", list)))
		if err != nil || gotErr != nil || !bytes.Equal(got, want) {
			t.Errorf("list %d: %d bytes, want %d; %v, %v", list, len(got), len(want), err, gotErr)
		}
	}
}

// TestAKilledRunHoldsNothing kills a run while its requests are in flight: a second run, which waits for the answers to
// some of these, asks them.
func TestAKilledRunHoldsNothing(t *testing.T) {
	t.Parallel()
	f := newFolderOfRuns(t, 20)
	first := f.command("-o", "first.csv", "--limit", "10")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	<-f.service.holding
	second := f.start("-o", "second.csv")
	time.Sleep(300 * time.Millisecond)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := statusOf(first.Wait()); got != -1 {
		t.Errorf("exit status %d of a killed process", got)
	}
	close(f.service.release)
	wantStatus(t, second, exitComplete)
}

// TestDeadRunsBlockNoRun kills a run but does not wait for it, so that the process stays a zombie, and leaves lock
// files that name living processes. The next run goes on at once.
func TestDeadRunsBlockNoRun(t *testing.T) {
	t.Parallel()
	f := newFolderOfRuns(t, 20)
	first := f.command("-o", "out.csv", "--store", "store")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	<-f.service.holding
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := statusOf(first.Wait()); got != -1 { // the system takes a moment to end a killed process and its locks
		t.Errorf("exit status %d of a killed process", got)
	}
	close(f.service.release)
	for name, text := range map[string]string{
		".out.csv.run/lock": fmt.Sprintf("%d\n", os.Getpid()),
		fmt.Sprintf(".out.csv.tmp-%d-0123456789abcdef", os.Getpid()): "draft",
	} {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, f.start("-o", "out.csv", "--store", "store"), exitComplete)
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".*")); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}

// TestStoreRemovedDuringARun removes the store while the service keeps a run waiting: the run
// stops asking, and does not say that its answers are kept.
func TestStoreRemovedDuringARun(t *testing.T) {
	t.Parallel()
	f := newFolderOfRuns(t, 2000)
	p := f.start("-o", "out.csv", "--workers", "4", "--rate", "0")
	<-f.service.holding
	for _, name := range answers.Files(filepath.Join(f.dir, store)) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	close(f.service.release)
	wantStatus(t, p, exitFailed)
	told := p.Log()
	if strings.Count(told, "a file was removed or replaced while the store was open") != 1 {
		t.Errorf("it says\n%s", told)
	}
	if asked := f.service.count(); asked >= 2000 {
		t.Errorf("all %d requests were made", asked)
	}
	if f.there("out.csv") {
		t.Error("there is an output")
	}
}
