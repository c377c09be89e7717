package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/scripts/process"
)

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
	return bulkcatCommand(f.t, f.dir, f.service.URL, append([]string{"product", "in.txt"}, args...)...)
}

func (f *folderOfRuns) start(args ...string) *process.Process {
	f.t.Helper()
	return start(f.t, f.command(args...))
}

// await waits until a file is there.
func (f *folderOfRuns) await(name string) {
	f.t.Helper()
	tick, limit := time.NewTicker(time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for !f.there(name) {
		select {
		case <-tick.C:
		case <-limit:
			f.t.Fatalf("%s does not come", name)
		}
	}
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

// TestTwoRunsShareAFolder starts a second run, with another output, while the first run asks. Both work, and a third
// run has the answers of both.
func TestTwoRunsShareAFolder(t *testing.T) {
	t.Parallel()
	f := newFolderOfRuns(t, 40)
	first := f.start("-o", "first.csv", "--limit", "20")
	<-f.service.holding
	second := f.start("-o", "second.csv")
	f.await("bulkcat.answers.2/OWNER")
	close(f.service.release)
	wantStatus(t, first, exitComplete)
	wantStatus(t, second, exitComplete)
	if told := second.Log(); !strings.Contains(told, "another run holds the store of this folder") || !strings.Contains(told, "bulkcat.answers.2: 0 answers") {
		t.Errorf("the second says\n%s", told)
	}
	for name, want := range map[string]string{"first.csv": "bulkcat.answers", "second.csv": "bulkcat.answers.2"} {
		account, err := record.ReadAccount(t.Context(), filepath.Join(f.dir, name+".run.json"))
		if err != nil || account.Store != want || !account.Overlapped {
			t.Errorf("the account of %s: %+v, %v", name, account, err)
		}
	}
	asked := f.service.count()
	third := f.start("-o", "third.csv")
	wantStatus(t, third, exitComplete)
	if told := third.Log(); !strings.Contains(told, "bulkcat.answers: 40 answers") {
		t.Errorf("the third says\n%s", told)
	}
	if again := f.service.count() - asked; again > 0 || asked > 60 {
		t.Errorf("the two made %d requests, the third %d", asked, again)
	}
	if f.there("bulkcat.answers.2") {
		t.Error("the second store is still there")
	}
	if account, err := record.ReadAccount(t.Context(), filepath.Join(f.dir, "third.csv.run.json")); err != nil || account.Overlapped {
		t.Errorf("the account of the third: %+v, %v", account, err)
	}
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
		".out.csv.lock": fmt.Sprintf("%d\n", os.Getpid()),
		"store/OWNER":   fmt.Sprintf("%d\n", os.Getpid()),
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
	if err := os.RemoveAll(filepath.Join(f.dir, "bulkcat.answers")); err != nil {
		t.Fatal(err)
	}
	close(f.service.release)
	wantStatus(t, p, exitFailed)
	told := p.Log()
	if strings.Count(told, "the store bulkcat.answers failed: its folder was removed or moved") != 1 || strings.Contains(told, "are kept") {
		t.Errorf("it says\n%s", told)
	}
	if asked := f.service.count(); asked >= 2000 {
		t.Errorf("all %d requests were made", asked)
	}
	if f.there("out.csv") {
		t.Error("there is an output")
	}
}

// TestKilledInATakeOver kills runs at later and later moments, while they take over the answers of two stores. In
// the end no answer is lost, and no request was made.
func TestKilledInATakeOver(t *testing.T) {
	t.Parallel()
	const titles = 6000
	f := newFolderOfRuns(t, titles)
	close(f.service.release)
	f.fill("bulkcat.answers.2", 0, titles*2/3)
	f.fill("out.csv.answers", titles/2, titles)
	kills := 0
	for delay := 10 * time.Millisecond; ; delay += delay / 3 {
		p := f.start("-o", "out.csv")
		timer := time.AfterFunc(delay, p.Kill)
		status := p.Status()
		timer.Stop()
		if status == exitComplete {
			if !strings.Contains(p.Log(), fmt.Sprintf(" 0 made (0 retries), 0 saved by dedupe, %d by stored answers", titles)) {
				t.Errorf("it says\n%s", p.Log())
			}
			break
		}
		if status != -1 {
			t.Fatalf("exit status %d\n%s", status, p.Log())
		}
		kills++
	}
	t.Logf("%d kills", kills)
	if asked := f.service.count(); asked > 0 {
		t.Errorf("%d requests were made", asked)
	}
	stores, err := filepath.Glob(filepath.Join(f.dir, "*answers*"))
	hidden, _ := filepath.Glob(filepath.Join(f.dir, ".*"))
	if err != nil || len(stores) != 1 || len(hidden) > 0 {
		t.Errorf("there are %v, %v, %v", stores, hidden, err)
	}
}

// fill makes a store of the answers to some of the titles.
func (f *folderOfRuns) fill(dir string, from, to int) {
	f.t.Helper()
	store, err := answers.Open(answers.Options{Dir: filepath.Join(f.dir, dir), Source: f.service.URL})
	if err != nil {
		f.t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(f.dir, "in.txt"))
	if err != nil {
		f.t.Fatal(err)
	}
	batch := store.NewBatch()
	for _, title := range strings.Split(string(text), "\n")[from:to] {
		request, err := normalize.Normalizer{}.Request(client.Product, title, client.ProductTaxonomy)
		if err != nil {
			f.t.Fatal(err)
		}
		outcome := answers.Outcome{Answer: client.Answer{Body: []byte(`{"product_taxonomy":[]}`), AnsweredAt: time.Now()}}
		batch.Add(request, outcome)
	}
	if err := batch.Commit(); err != nil {
		f.t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		f.t.Fatal(err)
	}
}
