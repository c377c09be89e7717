package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// moody is a service whose answers change when a test says so.
type moody struct {
	mu      sync.Mutex
	changed map[string]bool  // inputs with one category more
	err     map[string]error // of inputs without an answer
	asked   map[string]int
	quota   int // of requests, since begin; 0 for no quota
}

func (s *moody) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quota > 0 && s.sum() == s.quota {
		return client.Answer{}, &client.Error{Class: client.Quota, Status: 402}
	}
	s.asked[r.Input]++
	if err := s.err[r.Input]; err != nil {
		return client.Answer{}, err
	}
	more := ""
	if s.changed[r.Input] {
		more = `,{"value":"Tools","confidence":0.25}`
	}
	a, err := client.ParseAnswer([]byte(`{"`+r.Classification+`":[{"value":"Garden","confidence":0.5}`+more+`]}`), r.Classification)
	a.AnsweredAt = time.Now().UTC().Truncate(time.Microsecond)
	return a, err
}

func (s *moody) sum() (n int) {
	for _, asked := range s.asked {
		n += asked
	}
	return n
}

// begin forgets what was asked.
func (s *moody) begin() { s.asked = make(map[string]int) }

// folderOf gives the options of a session over n products, and writes the first output.
func folderOf(t *testing.T, n int) (*moody, pipeline.Options) {
	t.Helper()
	service := &moody{changed: make(map[string]bool), err: make(map[string]error)}
	dir := t.TempDir()
	text := "title\n"
	for i := range n {
		text += fmt.Sprintf("hose %d\n", i+1)
	}
	if err := os.WriteFile(filepath.Join(dir, "in.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	o := pipeline.Options{
		Kind:    client.Product,
		Service: pipeline.Service{Attempter: service, Name: "https://api.example.com", Hosted: true},
		Input:   reader.Options{Paths: []string{filepath.Join(dir, "in.csv")}},
		Output:  pipeline.OutputOptions{Path: filepath.Join(dir, "out") + "/", Format: "csv", PartRows: 10, Form: writer.Form{SourceColumns: true}},
	}
	o.Limits.InFlight, o.Limits.Rate = 1, 1e6
	service.begin()
	if _, err := runSession(t, o); err != nil {
		t.Fatal(err)
	}
	if len(service.asked) != n {
		t.Fatalf("%d asked at first", len(service.asked))
	}
	service.begin()
	return service, o
}

// parts are the contents of the parts by name.
func parts(t *testing.T, o pipeline.Options) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(o.Output.Path + "part-*")
	if err != nil {
		t.Fatal(err)
	}
	contents := make(map[string]string)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		contents[filepath.Base(path)] = string(text)
	}
	return contents
}

// TestRefreshKeepsParts changes the answers of a part, of which one is rejected now. All other parts keep
// their bytes, with the times of the answers, though the changed part has more rows.
func TestRefreshKeepsParts(t *testing.T) {
	service, o := folderOf(t, 55)
	before := parts(t, o)
	service.changed["hose 13"], service.changed["hose 14"] = true, true
	service.err["hose 15"] = &client.Error{Class: client.Rejected, Status: 404, Detail: "gone"}
	o.Store.RefreshBudget = 55
	if f, err := pipeline.DryRun(t.Context(), o); err != nil || f.Refresh != 55 || f.ToAsk() != 55 || service.sum() != 0 {
		t.Errorf("the dry run: %+v, %v", f, err)
	}
	account, err := runSession(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if c := account.Counts; len(service.asked) != 55 || service.sum() != 55 || c.AskedAgain != 55 || c.Changed != 3 || c.Rejected != 1 || c.FromStore != 0 {
		t.Errorf("%d asked, %+v", service.sum(), c)
	}
	after := parts(t, o)
	for name, text := range before {
		if changed := after[name] != text; changed != (name == "part-00002.csv") {
			t.Errorf("%s has changed: %v\n%s", name, changed, after[name])
		}
	}
	if rows := strings.Count(after["part-00002.csv"], "\n") - 1; len(after) != len(before) || rows != 12 {
		t.Errorf("%d parts; the changed part has %d rows", len(after), rows)
	}

	service.begin()
	o.Store.RefreshBudget = 0
	account, err = runSession(t, o)
	if err != nil || service.sum() != 0 || account.Counts.Kept != 50 || !maps.Equal(parts(t, o), after) {
		t.Errorf("without a budget: %v, %d asked, %d kept", err, service.sum(), account.Counts.Kept)
	}
}

// TestRefreshGoesOn stops a refresh twice by an exhausted quota. All starts together ask for the budget, and
// for different answers; the run after them begins a new refresh.
func TestRefreshGoesOn(t *testing.T) {
	service, o := folderOf(t, 200)
	o.Store.RefreshBudget = 50
	for _, service.quota = range []int{15, 30} {
		_, err := runSession(t, o)
		if stop, _ := errors.AsType[*pipeline.StopError](err); stop == nil || service.sum() != service.quota {
			t.Fatalf("%d asked, %v", service.sum(), err)
		}
	}
	service.quota = 0
	account, err := runSession(t, o)
	if err != nil || service.sum() != 50 || len(service.asked) != 50 {
		t.Errorf("%v; %d asked, %d different", err, service.sum(), len(service.asked))
	}
	if c := account.Counts; c.AskedAgain != 20 || c.OK != 200 {
		t.Errorf("got %+v", c)
	}
	service.begin()
	if _, err := runSession(t, o); err != nil || service.sum() != 50 {
		t.Errorf("the next refresh: %d asked, %v", service.sum(), err)
	}
}

// TestRefreshKeepsAnswers has a service that fails: the stored answers stay, and no record fails.
func TestRefreshKeepsAnswers(t *testing.T) {
	service, o := folderOf(t, 12)
	before := parts(t, o)
	for i := range 12 {
		if i%2 == 0 {
			service.err[fmt.Sprintf("hose %d", i+1)] = &client.Error{Class: client.Transient, Status: 500}
		}
	}
	o.Store.RefreshBudget = 12
	o.Retry = client.RetryPolicy{MaxAttempts: 1}
	account, err := runSession(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if c := account.Counts; c.OK != 12 || c.Failed != 0 || c.AskedAgain != 6 || c.Changed != 0 {
		t.Errorf("got %+v", c)
	}
	if !maps.Equal(parts(t, o), before) {
		t.Error("the parts have changed")
	}
}

func userFile(t *testing.T) string {
	t.Helper()
	path, err := answers.UserFile()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRefreshAsksTheOldest asks again for the oldest answers of a store.
func TestRefreshAsksTheOldest(t *testing.T) {
	service, o := folderOf(t, 100)
	store, err := answers.Open(answers.Options{Path: userFile(t), Source: o.Service.Name})
	if err != nil {
		t.Fatal(err)
	}
	batch := store.NewBatch()
	for i := range 100 { // the higher the number, the older
		r := client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: fmt.Sprintf("hose %d", i+1)}
		outcome, found, err := store.Lookup(r)
		if !found || err != nil {
			t.Fatalf("%q is not stored: %v", r.Input, err)
		}
		outcome.Answer.Body = []byte(`{"product_taxonomy":[{"value":"Garden","confidence":0.5}]}`)
		outcome.Answer.AnsweredAt = outcome.Answer.AnsweredAt.Add(-time.Duration(i+1) * 3 * 24 * time.Hour)
		batch.Add(r, outcome)
	}
	if err := errors.Join(batch.Commit(), store.Close()); err != nil {
		t.Fatal(err)
	}
	o.Store.RefreshBudget = 20
	if _, err := runSession(t, o); err != nil {
		t.Fatal(err)
	}
	oldest := 0
	for i := 100 - 20; i < 100; i++ {
		oldest += service.asked[fmt.Sprintf("hose %d", i+1)]
	}
	if n := service.sum(); n != 20 || oldest != 20 {
		t.Errorf("%d asked, %d of the oldest: %v", n, oldest, slices.Sorted(maps.Keys(service.asked)))
	}
}

// meeting is a service to one of two sessions. Its first request waits until the other session asks as well, or has ended.
type meeting struct {
	client.Attempter
	arrive sync.Once
	both   *sync.WaitGroup
}

func (m *meeting) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	m.arrived()
	m.both.Wait()
	return m.Attempter.Attempt(ctx, r)
}

func (m *meeting) arrived() { m.arrive.Do(m.both.Done) }

// TestRefreshOfTwoSessions has two sessions with one store ask again at the same time: no request is made twice.
func TestRefreshOfTwoSessions(t *testing.T) {
	service, first := folderOf(t, 100)
	second := first
	second.Output.Path = filepath.Join(t.TempDir(), "second") + "/"
	if _, err := runSession(t, second); err != nil || service.sum() != 0 {
		t.Fatalf("%d asked, %v", service.sum(), err)
	}
	var both, sessions sync.WaitGroup
	both.Add(2)
	for _, o := range []pipeline.Options{first, second} {
		o.Store.RefreshBudget = 20
		m := &meeting{Attempter: service, both: &both}
		o.Service.Attempter = m
		sessions.Go(func() {
			defer m.arrived()
			if _, err := runSession(t, o); err != nil {
				t.Error(err)
			}
		})
	}
	sessions.Wait()
	for input, n := range service.asked {
		if n > 1 {
			t.Errorf("%q was asked %d times", input, n)
		}
	}
	if n := service.sum(); n < 20 {
		t.Errorf("%d asked", n)
	}
}

func TestRefreshNeedsAFileAndAStore(t *testing.T) {
	_, o := folderOf(t, 1)
	for name, change := range map[string]func(*pipeline.Options){
		"negative":       func(o *pipeline.Options) { o.Store.RefreshBudget = -1 },
		"standard input": func(o *pipeline.Options) { o.Input.Paths = []string{"-"} },
		"no store":       func(o *pipeline.Options) { o.Output.Path, o.Service.Hosted = "-", false },
	} {
		o := o
		o.Store.RefreshBudget = 1
		change(&o)
		if wrong, _ := errors.AsType[*pipeline.OptionError](o.Check()); wrong == nil || wrong.Option != "Store.RefreshBudget" {
			t.Errorf("%s: got %v", name, o.Check())
		}
	}
}
