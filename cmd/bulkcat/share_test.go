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
	"github.com/bulkcat/bulkcat/pipeline"
)

// folderOfRuns is a folder in which bulkcat runs over in.txt.
type folderOfRuns struct {
	t       *testing.T
	bulkcat string
	dir     string
	service *heldService
}

func newFolderOfRuns(t *testing.T, titles int) *folderOfRuns {
	f := &folderOfRuns{t: t, bulkcat: selfAsBulkcat(t), dir: t.TempDir(), service: holdAll(t)}
	writeTitles(t, filepath.Join(f.dir, "in.txt"), titles)
	return f
}

// start starts a run; its standard error goes to the returned builder.
func (f *folderOfRuns) start(args ...string) (*exec.Cmd, *strings.Builder) {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), f.bulkcat, append([]string{"product", "in.txt"}, args...)...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+f.service.URL, "BULKCAT_API_KEY="+testKey)
	stderr := new(strings.Builder)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return cmd, stderr
}

func (f *folderOfRuns) wantStatus(cmd *exec.Cmd, stderr *strings.Builder, want int) {
	f.t.Helper()
	if got := statusOf(cmd.Wait()); got != want {
		f.t.Fatalf("exit status %d, want %d\n%s", got, want, stderr)
	}
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
	first, firstErr := f.start("-o", "first.csv", "--limit", "20")
	<-f.service.holding
	second, secondErr := f.start("-o", "second.csv")
	f.await("bulkcat.answers.2/OWNER")
	close(f.service.release)
	f.wantStatus(first, firstErr, exitComplete)
	f.wantStatus(second, secondErr, exitComplete)
	if told := secondErr.String(); !strings.Contains(told, "another run holds the store of this folder") || !strings.Contains(told, "bulkcat.answers.2: 0 answers") {
		t.Errorf("the second says\n%s", told)
	}
	for name, want := range map[string]string{"first.csv": "bulkcat.answers", "second.csv": "bulkcat.answers.2"} {
		account, err := pipeline.ReadAccount(t.Context(), filepath.Join(f.dir, name+".run.json"))
		if err != nil || account.Store != want || !account.Overlapped {
			t.Errorf("the account of %s: %+v, %v", name, account, err)
		}
	}
	asked := f.service.count()
	third, thirdErr := f.start("-o", "third.csv")
	f.wantStatus(third, thirdErr, exitComplete)
	if told := thirdErr.String(); !strings.Contains(told, "bulkcat.answers: 40 answers") {
		t.Errorf("the third says\n%s", told)
	}
	if again := f.service.count() - asked; again > 0 || asked > 60 {
		t.Errorf("the two made %d requests, the third %d", asked, again)
	}
	if f.there("bulkcat.answers.2") {
		t.Error("the second store is still there")
	}
	if account, err := pipeline.ReadAccount(t.Context(), filepath.Join(f.dir, "third.csv.run.json")); err != nil || account.Overlapped {
		t.Errorf("the account of the third: %+v, %v", account, err)
	}
}

// TestDeadRunsBlockNoRun kills a run but does not wait for it, so that the process stays a zombie, and leaves lock
// files that name living processes. The next run goes on at once.
func TestDeadRunsBlockNoRun(t *testing.T) {
	t.Parallel()
	f := newFolderOfRuns(t, 20)
	first, stderr := f.start("-o", "out.csv", "--store", "store")
	<-f.service.holding
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
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
	for began := time.Now(); ; { // the system takes a moment to kill the first
		second, secondErr := f.start("-o", "out.csv", "--store", "store")
		if statusOf(second.Wait()) == exitComplete {
			break
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("still blocked:\n%s", secondErr)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".*")); len(left) > 0 {
		t.Errorf("there are %v", left)
	}
	f.wantStatus(first, stderr, -1)
}

// TestStoreRemovedDuringARun removes the store while the service keeps a run waiting: the run
// stops asking, and does not say that its answers are kept.
func TestStoreRemovedDuringARun(t *testing.T) {
	t.Parallel()
	f := newFolderOfRuns(t, 2000)
	cmd, stderr := f.start("-o", "out.csv", "--workers", "4", "--rate", "0")
	<-f.service.holding
	if err := os.RemoveAll(filepath.Join(f.dir, "bulkcat.answers")); err != nil {
		t.Fatal(err)
	}
	close(f.service.release)
	f.wantStatus(cmd, stderr, exitFailed)
	told := stderr.String()
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
		cmd, stderr := f.start("-o", "out.csv")
		timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		status := statusOf(cmd.Wait())
		timer.Stop()
		if status == exitComplete {
			if !strings.Contains(stderr.String(), fmt.Sprintf(" 0 made (0 retries), 0 saved by dedupe, %d by stored answers", titles)) {
				t.Errorf("it says\n%s", stderr)
			}
			break
		}
		if status != -1 {
			t.Fatalf("exit status %d\n%s", status, stderr)
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
		request, err := client.Normalizer{}.Request(client.Product, title, client.ProductTaxonomy)
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
