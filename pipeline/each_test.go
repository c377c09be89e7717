package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
)

// library is a program that has its records in memory and takes the answers itself.
type library struct {
	options   pipeline.Options
	meanwhile func(input string) // during a request; nil for nothing

	mu    sync.Mutex
	asked map[string]int // requests, by classification and input

	handed []string // what Each was called with: the number of the record, its input and the first category or the error
	stops  func(handed int) error
}

func newLibrary(t *testing.T, records iter.Seq2[reader.Record, error]) *library {
	t.Helper()
	l := &library{asked: make(map[string]int)}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	l.options = pipeline.Options{
		Kind:    client.Product,
		Service: pipeline.Service{Attempter: l, Name: "https://api.example.com", Hosted: true},
		Input:   reader.Options{Records: records},
		Store:   pipeline.StoreOptions{Path: filepath.Join(t.TempDir(), "answers")},
		Each:    l.take,
	}
	l.options.Limits.InFlight, l.options.Limits.Rate = 4, 1e6
	return l
}

func (l *library) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	l.mu.Lock()
	l.asked[r.Classification+" "+r.Input]++
	l.mu.Unlock()
	if l.meanwhile != nil {
		l.meanwhile(r.Input)
	}
	return client.ParseAnswer(fmt.Appendf(nil, `{%q:[{"value":"About %s","title":%[1]q,"confidence":0.5}]}`, r.Classification, r.Input), r.Classification)
}

func (l *library) take(record reader.Record, entries []client.Entry, err error) error {
	answer := fmt.Sprint(err)
	if err == nil {
		answer = entries[0].Value
	}
	l.handed = append(l.handed, fmt.Sprintf("%d %s: %s", record.Number, record.Input, answer))
	if l.stops != nil {
		return l.stops(len(l.handed))
	}
	return nil
}

// run runs a session, and checks that no input has been asked for twice.
func (l *library) run(t *testing.T, ctx context.Context) (*account.Account, error) {
	t.Helper()
	session, err := pipeline.Open(ctx, l.options)
	if err != nil {
		t.Fatal(err)
	}
	l.handed = nil
	a, err := session.Run(ctx)
	if _, resumable := session.Resumption(err); err != nil && errors.As(err, new(*pipeline.StopError)) != resumable {
		t.Errorf("resumable: %t after %v", resumable, err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	for input, n := range l.asked {
		if n > 1 {
			t.Errorf("%s was asked for %d times", input, n)
		}
	}
	return a, err
}

// titles are records of so many inputs; returned says that the sequence has returned.
func titles(n int, returned *bool) iter.Seq2[reader.Record, error] {
	return func(yield func(reader.Record, error) bool) {
		defer func() { *returned = true }()
		for i := range n {
			if !yield(reader.Record{Input: fmt.Sprintf("title %d", i+1)}, nil) {
				return
			}
		}
	}
}

// inOrder are the calls of Each for the first records of titles.
func inOrder(n int) []string {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = fmt.Sprintf("%d title %d: About title %[1]d", i+1, i+1)
	}
	return calls
}

func TestRecordsFromMemory(t *testing.T) {
	failure := errors.New("the database is gone")
	type item struct {
		record reader.Record
		err    error
	}
	shoe := item{record: reader.Record{Input: "shoe"}}
	for name, tt := range map[string]struct {
		items []item
		want  []string
		err   string
	}{
		"none":                     {nil, nil, ""},
		"one":                      {[]item{shoe}, []string{"1 shoe: About shoe"}, ""},
		"equal inputs":             {[]item{shoe, shoe}, []string{"1 shoe: About shoe", "2 shoe: About shoe"}, ""},
		"with fields":              {[]item{{record: reader.Record{Input: "shoe", Fields: []string{"1", "2"}, Nulls: []bool{false, true}}}}, []string{"1 shoe: About shoe"}, ""},
		"without an input":         {[]item{{}, shoe}, []string{"1 : (memory):1: the input is empty: \"\"", "2 shoe: About shoe"}, ""},
		"malformed":                {[]item{{record: reader.Record{Err: failure}}}, []string{"1 : (memory):1: the database is gone"}, ""},
		"malformed row of a file":  {[]item{{record: reader.Record{File: "a.csv", Line: 7, Err: &reader.RowError{File: "a.csv", Line: 7, Reason: "a stray quote"}}}}, []string{"1 : a.csv:7: a stray quote"}, ""},
		"too many fields":          {[]item{{record: reader.Record{Input: "shoe", Fields: []string{"1", "2", "3"}}}}, []string{"1 : (memory):1: the record has 3 fields and 0 nulls, and there are 2 columns"}, ""},
		"too many nulls":           {[]item{{record: reader.Record{Input: "shoe", Nulls: []bool{true}}}}, []string{"1 : (memory):1: the record has 0 fields and 1 nulls, and there are 2 columns"}, ""},
		"invalid UTF-8":            {[]item{{record: reader.Record{Input: "sh\xffe"}}}, []string{"1 : (memory):1: invalid UTF-8"}, ""},
		"invalid UTF-8 in a field": {[]item{{record: reader.Record{Input: "shoe", Fields: []string{"1", "\xff"}}}}, []string{"1 : (memory):1: invalid UTF-8"}, ""},
		"an error":                 {[]item{{err: failure}, shoe}, nil, "(memory):1: the database is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLibrary(t, func(yield func(reader.Record, error) bool) {
				for _, item := range tt.items {
					if !yield(item.record, item.err) {
						return
					}
				}
			})
			l.options.Input.RecordColumns = []string{"sku", "price"}
			a, err := l.run(t, t.Context())
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) || !slices.Equal(l.handed, tt.want) {
				t.Errorf("got %q and %v, want %q and %q", l.handed, err, tt.want, tt.err)
			}
			if tt.err != "" && (!errors.Is(err, failure) || a.Ending != account.Failed) {
				t.Errorf("the run ended as %s with %v", a.Ending, err)
			}
		})
	}
}

// The answers before an error of the sequence are stored, and the next session asks for the others.
func TestErrorAmongRecords(t *testing.T) {
	failure := errors.New("the database is gone")
	returned := false
	l := newLibrary(t, func(yield func(reader.Record, error) bool) {
		for record, err := range titles(20, &returned) {
			if record.Input == "title 11" {
				err = failure
			}
			if !yield(record, err) {
				return
			}
		}
	})
	if _, err := l.run(t, t.Context()); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	l.options.Input.Records = titles(20, &returned)
	if _, err := l.run(t, t.Context()); err != nil || !slices.Equal(l.handed, inOrder(20)) || len(l.asked) != 20 {
		t.Errorf("got %d requests, %q, %v", len(l.asked), l.handed, err)
	}
}

// Each is called in input order, one call at a time, and only for answers that are stored.
func TestEachIsCalledInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 300
		returned := false
		l := newLibrary(t, titles(n, &returned))
		l.meanwhile = func(input string) {
			time.Sleep(time.Duration(len(input)*7+int(input[len(input)-1])*31%13) * time.Millisecond)
		}
		if a, err := l.run(t, t.Context()); err != nil || !slices.Equal(l.handed, inOrder(n)) || !returned || a.Counts.OK != n {
			t.Errorf("got %q, %v", l.handed, err)
		}
	})
}

// A session that stops early, whatever stops it, leaves what it has handed out in the store, and ends the sequence.
func TestSessionWithEachIsResumed(t *testing.T) {
	const n, at = 200, 20
	failure := errors.New("the table is full")
	for name, tt := range map[string]struct {
		stop func(l *library, cancel func())
		want error
	}{
		"by a signal": {func(l *library, cancel func()) {
			l.stops = func(handed int) error {
				if handed == at {
					cancel()
				}
				return nil
			}
		}, nil},
		"by an error of Each": {func(l *library, _ func()) {
			l.stops = func(handed int) error {
				if handed == at {
					return failure
				}
				return nil
			}
		}, failure},
		"by the sequence": {func(l *library, cancel func()) {
			records := l.options.Input.Records
			l.options.Input.Records = func(yield func(reader.Record, error) bool) {
				for record, err := range records {
					if record.Input == fmt.Sprint("title ", at+1) {
						time.Sleep(time.Minute)
						yield(record, context.Canceled) // before the context of the run has ended
						return
					}
					if !yield(record, err) {
						return
					}
				}
			}
		}, nil},
		"by the limits": {func(l *library, _ func()) { l.options.Limits.MaxRequests = at }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				returned := false
				l := newLibrary(t, titles(n, &returned))
				l.meanwhile = func(string) { time.Sleep(time.Second) }
				again := l.options
				tt.stop(l, cancel)
				_, err := l.run(t, ctx)
				stop, stopped := errors.AsType[*pipeline.StopError](err)
				if !stopped || tt.want != nil && (!errors.Is(err, tt.want) || stop.Cause != account.Interrupted || len(l.handed) != at) {
					t.Errorf("got %v after %d records", err, len(l.handed))
				}
				if !returned {
					t.Error("the sequence goes on")
				}
				before := len(l.handed)
				if before < 1 || !slices.Equal(l.handed, inOrder(before)) {
					t.Errorf("the first session has handed out %q", l.handed)
				}
				asked := len(l.asked)
				l.options, l.stops = again, nil
				a, err := l.run(t, t.Context()) // which checks that nothing is asked twice
				if err != nil || !slices.Equal(l.handed, inOrder(n)) || a.Counts.Requests != int64(n-asked) {
					t.Errorf("then %d requests after %d, %v, and %q", a.Counts.Requests, asked, err, l.handed)
				}
			})
		})
	}
}

// A run ends although the sequence waits. Close waits for the sequence, so that the caller may then close what it reads.
func TestSequenceThatWaits(t *testing.T) {
	for _, after := range []int{0, 3} {
		t.Run(fmt.Sprint(after, " records"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				returned, arrives := false, make(chan struct{})
				l := newLibrary(t, func(yield func(reader.Record, error) bool) {
					defer func() { returned = true }()
					for record := range titles(after, new(bool)) {
						yield(record, nil)
					}
					<-arrives
				})
				session, err := pipeline.Open(ctx, l.options)
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan error)
				go func() {
					_, err := session.Run(ctx)
					ended <- err
				}()
				time.Sleep(time.Minute)
				cancel()
				stop, stopped := errors.AsType[*pipeline.StopError](<-ended)
				if !stopped || stop.Cause != account.Interrupted || !slices.Equal(l.handed, inOrder(after)) {
					t.Errorf("got %v, handed out %q", stop, l.handed)
				}
				time.AfterFunc(time.Second, func() { close(arrives) })
				if err := session.Close(); err != nil || !returned {
					t.Errorf("closed while the sequence goes on: %t, %v", !returned, err)
				}
			})
		})
	}
}

func TestSessionWithoutOutputWritesTheStoreOnly(t *testing.T) {
	returned, dir := false, t.TempDir()
	t.Chdir(dir)
	l := newLibrary(t, titles(2, &returned))
	l.options.Store.Path = filepath.Join(dir, "answers")
	a, err := l.run(t, t.Context())
	if err != nil || a.Settings.Output != "" || !slices.Equal(a.Settings.Inputs, []string{reader.InMemory}) || a.Inputs[0] != (account.Input{Name: reader.InMemory}) {
		t.Errorf("got %+v, %v", a, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// With an output the caller gets the answers as well, and the rows carry the fields.
func TestRecordsFromMemoryWithAnOutput(t *testing.T) {
	records := func(yield func(reader.Record, error) bool) {
		fields := make([]string, 1) // is used again, which is allowed
		for i := range 3 {
			fields[0] = fmt.Sprint("sku ", i+1)
			if !yield(reader.Record{Input: fmt.Sprint("title ", i+1), Fields: fields}, nil) {
				return
			}
		}
	}
	l := newLibrary(t, records)
	l.options.Input.RecordColumns = []string{"SKU"}
	l.options.Output = pipeline.OutputOptions{Path: filepath.Join(t.TempDir(), "out.csv"), Carry: "sku"}
	if f, err := pipeline.DryRun(t.Context(), l.options); err != nil || f.ToAsk() != 3 {
		t.Errorf("a dry run: %+v, %v", f, err)
	}
	for range 2 {
		if _, err := l.run(t, t.Context()); err != nil || !slices.Equal(l.handed, inOrder(3)) {
			t.Errorf("got %q, %v", l.handed, err)
		}
		rows, err := os.ReadFile(l.options.Output.Path)
		if err != nil || strings.Count(string(rows), "\n") != 4 || !strings.Contains(string(rows), ",sku 1\n") || !strings.Contains(string(rows), ",sku 3\n") {
			t.Errorf("got the rows %q, %v", rows, err)
		}
	}
	l.options.Input = products(t, new(counting)).Input
	l.options.Output.Carry = "none"
	if _, err := l.run(t, t.Context()); !errors.As(err, new(*pipeline.OutputTakenError)) {
		t.Errorf("a file in place of the records: %v", err)
	}
}

func TestEachOfSeveralClassifications(t *testing.T) {
	l := newLibrary(t, reader.Inputs(slices.Values([]string{"a.example", "b.example"})))
	l.options.Kind, l.options.Classifications = client.Website, []string{client.TaxonomyV3, client.NAICS}
	want := []string{
		"1 a.example: About https://a.example for taxonomy_v3", "1 a.example: About https://a.example for naics",
		"2 b.example: About https://b.example for taxonomy_v3", "2 b.example: About https://b.example for naics",
	}
	l.options.Each = func(record reader.Record, entries []client.Entry, err error) error {
		return errors.Join(err, l.take(record, []client.Entry{{Value: entries[0].Value + " for " + entries[0].Title}}, nil))
	}
	if _, err := l.run(t, t.Context()); err != nil || !slices.Equal(l.handed, want) {
		t.Errorf("got %q, %v", l.handed, err)
	}
}

func TestEachOfAnOfflineRun(t *testing.T) {
	l := newLibrary(t, titles(1, new(bool)))
	if _, err := l.run(t, t.Context()); err != nil {
		t.Fatal(err)
	}
	l.options.Offline, l.options.Input.Records = true, titles(2, new(bool))
	l.options.Each = func(record reader.Record, entries []client.Entry, err error) error {
		if errors.Is(err, pipeline.ErrPending) != (record.Number == 2) || len(entries) != int(2-record.Number) {
			t.Errorf("record %d: %v, %v", record.Number, entries, err)
		}
		return nil
	}
	if a, err := l.run(t, t.Context()); err != nil || a.Counts.Pending != 1 {
		t.Errorf("got %v", err)
	}
}
