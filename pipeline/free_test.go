package pipeline_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/verify"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// categories are those of titles that begin with an invented word.
var categories = []struct{ word, category string }{
	{"zorbik", "Home & Garden > Lawn & Garden > Watering & Irrigation > Garden Hoses"},
	{"quimmel", "Electronics > Computers > Laptops"},
	{"fraxel", "Apparel & Accessories > Shoes"},
	{"dorbun", "Toys & Games > Toys > Dolls, Playsets & Toy Figures > Dolls"},
}

// sureTitle is a title that modelOfTitles is the surer about, the lower its grade is, which is 0 to 9. No model is sure
// about unsureTitle.
func sureTitle(i int) string {
	return fmt.Sprintf("%s grade%c %d", categories[i%4].word, 'a'+gradeOf(i), i)
}
func gradeOf(i int) int        { return i / 4 % 10 }
func unsureTitle(i int) string { return fmt.Sprintf("xqzwv %d", i) }

func categoryOf(title string) string {
	for _, l := range categories {
		if strings.HasPrefix(title, l.word) {
			return l.category
		}
	}
	return "Furniture"
}

// modelOfTitles makes a model that is sure about titles with the words of categories, with a precision of 90%.
var modelOfTitles = sync.OnceValue(func() *learn.Model {
	service := embedded.New(embedded.Options{})
	l := learn.NewLearner(client.Product, &taxonomy.Custom{Taxonomy: *taxonomy.Products()})
	for i := range 800 {
		title := sureTitle(1_000_000 + i)
		features, err := service.Features(context.Background(), client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: title})
		if err != nil {
			panic(err)
		}
		label := categoryOf(title)
		if i/40%20 < gradeOf(i)-5 { // the labels contradict each other
			label = categories[(i+1)%4].category
		}
		l.Add(learn.Row{File: "labels.csv", Line: int64(i), Input: title}, features, label)
	}
	m, _, err := l.Train(context.Background())
	if err != nil {
		panic(err)
	}
	return m
})

// predicting answers with modelOfTitles.
var predicting = sync.OnceValue(func() *embedded.Service {
	return embedded.New(embedded.Options{Models: []*learn.Model{modelOfTitles()}})
})

var known sync.Map // what predicted has returned, by title

// predicted is the first category that the model gives.
func predicted(title string) string {
	if value, ok := known.Load(title); ok {
		return value.(string)
	}
	a, err := predicting().Attempt(context.Background(), client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: title})
	if err != nil {
		panic(err)
	}
	known.Store(title, a.Entries[0].Value)
	return a.Entries[0].Value
}

// vendor is a hosted service that agrees with the model, but for a share of the titles from a grade on.
type vendor struct {
	mu    sync.Mutex
	asked map[string]int
	quota int            // requests that it answers; 0 for no bound
	fails map[string]int // attempts that fail, by input

	from  byte // the grade
	share uint32
}

func (v *vendor) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.quota > 0 && v.answers() == v.quota {
		return client.Answer{}, &client.Error{Class: client.Quota, Status: 402}
	}
	if v.fails[r.Input] > 0 {
		v.fails[r.Input]--
		return client.Answer{}, &client.Error{Class: client.Transient, Status: 503}
	}
	v.asked[r.Input]++
	a, err := client.ParseAnswer(fmt.Appendf(nil, `{%q:[{"value":%q,"confidence":0.25}]}`, r.Classification, v.category(r.Input)), r.Classification)
	a.AnsweredAt = time.Now().UTC().Truncate(time.Microsecond)
	return a, err
}

// category is the one that the service gives a title.
func (v *vendor) category(title string) string {
	if _, grade, ok := strings.Cut(title, " grade"); ok && grade[0] >= v.from {
		h := fnv.New32a()
		h.Write([]byte(title)) // never fails
		if h.Sum32()>>8%100 < v.share {
			return "Furniture > Chairs"
		}
	}
	return predicted(title)
}

func (v *vendor) answers() (n int) {
	for _, asked := range v.asked {
		n += asked
	}
	return n
}

// twice are the answers beyond the first of an input.
func (v *vendor) twice() int { return v.answers() - len(v.asked) }

// freely gives the options of a session over 1,200 titles that the model is sure about, each tenth twice, and 120 others.
func freely(t *testing.T, v *vendor) pipeline.Options {
	t.Helper()
	v.asked = make(map[string]int)
	text := "title\n"
	for i := range 1200 {
		text += sureTitle(i) + "\n"
		if i%10 == 0 {
			text += unsureTitle(i) + "\n" + sureTitle(i/2) + "\n"
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	o := pipeline.Options{
		Kind:    client.Product,
		Service: pipeline.Service{Attempter: v, Name: "https://api.example.com", Hosted: true},
		Input:   reader.Options{Paths: []string{filepath.Join(dir, "in.csv")}},
		Output:  pipeline.OutputOptions{Path: filepath.Join(dir, "out.csv"), Form: writer.Form{Levels: 1, Shape: writer.ShapeTop}, Carry: "none"},
		Free:    pipeline.FreeOptions{Model: modelOfTitles(), Precision: 0.9, Audit: 0.01},
	}
	o.Limits.InFlight, o.Limits.Rate = 4, 1e6
	return o
}

// contents are those of the output, or of its parts.
func contents(t *testing.T, path string) string {
	t.Helper()
	paths := []string{path}
	if strings.HasSuffix(path, "/") {
		paths, _ = filepath.Glob(path + "part-*")
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n%s", filepath.Base(path), text)
	}
	return all.String()
}

// checkFree compares the output with the account, and counts the rows of the model.
func checkFree(t *testing.T, o pipeline.Options, a *account.Account) (free int64) {
	t.Helper()
	report, err := verify.Run(t.Context(), verify.Options{Output: o.Output.Path, Run: pipeline.Options{Free: o.Free}})
	if err != nil || !report.Balanced {
		t.Errorf("verify: %v, %v", report.Findings, err)
	}
	source := "embedded+" + o.Free.Model.Fingerprint()
	for line := range strings.Lines(contents(t, o.Output.Path)) {
		if strings.Contains(line, source) {
			free++
		}
	}
	if free != a.Counts.Free {
		t.Errorf("%d free rows, the account says %d", free, a.Counts.Free)
	}
	return free
}

// TestFree has a service that agrees with the model.
func TestFree(t *testing.T) {
	v := new(vendor)
	o := freely(t, v)
	f, err := pipeline.DryRun(t.Context(), o)
	if err != nil || f.Distinct != 1320 || f.Audit != 300 || f.Free < 850 || f.ToAsk() != 1320-f.Free || v.answers() != 0 {
		t.Fatalf("the dry run: %+v, %v", f, err)
	}
	acc, err := runSession(t, o)
	if err != nil {
		t.Fatal(err)
	}
	free := checkFree(t, o, acc)
	a := acc.Free
	if int64(v.answers()) != f.ToAsk() || v.twice() != 0 || free < f.Free || acc.Counts.OK != 1440 {
		t.Errorf("%d asked, want %d; %d free rows; %+v", v.answers(), f.ToAsk(), free, acc.Counts)
	}
	if a == nil || a.Step != 1 || a.Sample != 300 || a.Missing != 0 || a.Bound < 0.9 || a.Requests != f.Free+300 {
		t.Errorf("%+v", a)
	}
	before, asked := contents(t, o.Output.Path), v.answers()
	again, err := runSession(t, o)
	if err != nil || *again.Free != *a || contents(t, o.Output.Path) != before || v.answers() != asked || len(again.Earlier) != 1 {
		t.Errorf("started again: %+v, %d asked, %v", again.Free, v.answers()-asked, err)
	}
	if f, err := pipeline.DryRun(t.Context(), o); err != nil || f.ToAsk() != 0 || f.Audit != 0 {
		t.Errorf("the dry run after: %+v, %v", f, err)
	}
	o.Offline, o.Output.Path, o.Output.Shape = true, filepath.Join(filepath.Dir(o.Output.Path), "long.csv"), writer.ShapeLong
	offline, err := runSession(t, o)
	if err != nil || *offline.Free != *a || offline.Counts.Free != acc.Counts.Free || offline.Counts.Pending != 0 || v.answers() != asked {
		t.Errorf("offline: %+v, %+v, %v", offline.Free, offline.Counts, err)
	}
	o.Free.Precision = 0.85
	if other, err := runSession(t, o); err == nil {
		t.Errorf("another precision writes over the output: %+v", other)
	}
}

// TestFreeNights runs once more after a complete night, with another list, another service or other options.
func TestFreeNights(t *testing.T) {
	changed := func(v *vendor) { v.from, v.share = 'a', 100 }
	more := func(o *pipeline.Options) {
		t.Helper()
		f, err := os.OpenFile(o.Input.Paths[0], os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			fmt.Fprintln(f, sureTitle(5000+i))
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		service func(*vendor)
		change  func(*pipeline.Options)
		same    bool // rows, and nothing is asked
		asked   int  // in the second night, at least; with a new plan
		twice   bool // answers count no more
		cause   account.AuditCause
	}{
		"the same list":                    {same: true},
		"the same list, a changed service": {service: changed, same: true},
		"a longer list":                    {change: more, asked: 300},
		"a longer list, a changed service": {service: changed, change: more, asked: 920, cause: account.AuditFailed},
		"answers that are too old": {service: changed, change: func(o *pipeline.Options) { o.Store.MaxAge = time.Millisecond }, asked: 1320, twice: true,
			cause: account.AuditFailed},
		"a finer precision": {change: func(o *pipeline.Options) { o.Free.Precision, o.Output.Overwrite = 0.91, true }, asked: 300},
	} {
		t.Run(name, func(t *testing.T) {
			v := new(vendor)
			o := freely(t, v)
			o.Output.SourceColumns = true
			first, err := runSession(t, o)
			if err != nil {
				t.Fatal(err)
			}
			rows, asked, night := contents(t, o.Output.Path), v.answers(), time.Now().UTC()
			if tt.service != nil {
				tt.service(v)
			}
			if tt.change != nil {
				tt.change(&o)
			}
			f, err := pipeline.DryRun(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			a, err := runSession(t, o)
			if err != nil {
				t.Fatal(err)
			}
			checkFree(t, o, a)
			asked = v.answers() - asked
			if tt.same {
				if contents(t, o.Output.Path) != rows || asked > 0 || *a.Free != *first.Free || f.AtRisk != 0 || f.ToAsk() != 0 {
					t.Errorf("%d asked, %+v", asked, a.Free)
				}
				return
			}
			if asked < tt.asked || asked > tt.asked+20 || !tt.twice && v.twice() > 0 || a.Free.Cause != tt.cause || a.Free.Begun.Before(night.Truncate(time.Microsecond)) || a.Free.Missing > 0 {
				t.Errorf("%d asked, %d twice, %+v", asked, v.twice(), a.Free)
			}
			if least, most := f.ToAsk(), f.IfAuditFails().ToAsk(); int64(asked) < least || int64(asked) > most || least == most {
				t.Errorf("%d asked, %d to %d by the dry run", asked, least, most)
			}
			if tt.cause == "" && (a.Free.Bound < 0.9 || a.Free.Sample != 300) || tt.cause != "" && a.Counts.Free > 0 {
				t.Errorf("%d free, %+v", a.Counts.Free, a.Free)
			}
			table, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(contents(t, o.Output.Path), "out.csv\n"))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			source, at := slices.Index(table[0], "source"), slices.Index(table[0], "answered_at")
			for _, row := range table[1:] {
				if when, err := time.Parse(time.RFC3339Nano, row[at]); strings.HasPrefix(row[source], "embedded+") && (err != nil || when.Before(night.Truncate(time.Microsecond))) {
					t.Fatalf("a free row of %s, before %s: %v", row[at], night, row)
				}
			}
			o.Offline, o.Output.Path, o.Store.MaxAge = true, o.Output.Path+".again.csv", 0
			if offline, err := runSession(t, o); err != nil || *offline.Free != *a.Free || offline.Counts.Pending > 0 || offline.Counts.Free != a.Counts.Free {
				t.Errorf("offline: %+v, %+v, %v", offline.Free, offline.Counts, err)
			}
		})
	}
}

// TestFreeQuota has a quota that is enough if the audit holds.
func TestFreeQuota(t *testing.T) {
	for left, want := range map[string]string{
		"300": "the quota is not enough: the run will stop", "700": "unless the audit of the free answers fails", "1320": `"the quota is enough"`,
	} {
		v := &vendor{quota: 1}
		o := freely(t, v)
		var log bytes.Buffer
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Service.Usage = func(context.Context) (client.Usage, error) { return client.Usage{Remaining: left}, nil }
		if _, err := runSession(t, o); err == nil || !strings.Contains(log.String(), want) {
			t.Errorf("%s left: %v, %s", left, err, log.String())
		}
	}
}

// TestVerifyFree changes what the account says of the free answers.
func TestVerifyFree(t *testing.T) {
	o := freely(t, new(vendor))
	o.Limit = 600
	if _, err := runSession(t, o); err != nil {
		t.Fatal(err)
	}
	path := runfiles.AccountPath(o.Output.Path)
	for name, tt := range map[string]struct {
		change func(*account.Account)
		what   string // of the first finding; "" for none
	}{
		"nothing":               {func(*account.Account) {}, ""},
		"a higher bound":        {func(a *account.Account) { a.Free.Bound += 0.01 }, "bound of the audit"},
		"another level":         {func(a *account.Account) { a.Free.Level = 0.95 }, "level of the audit"},
		"fewer disagreements":   {func(a *account.Account) { a.Free.Sample++ }, "bound of the audit"},
		"a higher threshold":    {func(a *account.Account) { a.Free.Threshold = 0.999 }, "threshold of the free records"},
		"another number":        {func(a *account.Account) { a.Counts.Free-- }, "free records, by the account"},
		"another source":        {func(a *account.Account) { a.Free.Source = "embedded" }, "choice of the free records"},
		"no audit":              {func(a *account.Account) { a.Free = nil }, "choice of the free records"},
		"a run without a model": {func(a *account.Account) { a.Free, a.Settings.Free = nil, "" }, "content"},
	} {
		t.Run(name, func(t *testing.T) {
			acc, err := runfiles.ReadAccount(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			changed := *acc
			free := *acc.Free
			changed.Free = &free
			tt.change(&changed)
			if err := runfiles.Write(t.Context(), path, &changed); err != nil {
				t.Fatal(err)
			}
			run := pipeline.Options{Free: o.Free}
			if changed.Settings.Free == "" {
				run.Free.Model = nil
			}
			report, err := verify.Run(t.Context(), verify.Options{Output: o.Output.Path, Run: run})
			if err != nil {
				t.Fatal(err)
			}
			if report.Balanced != (tt.what == "") || tt.what != "" && report.Findings[0].What != tt.what {
				t.Errorf("got %v, want %s", report.Findings, tt.what)
			}
			if err := runfiles.Write(t.Context(), path, acc); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestFreeOfOneStart gives nothing for free that an earlier run has an answer for.
func TestFreeOfOneStart(t *testing.T) {
	v := new(vendor)
	o := freely(t, v)
	free := o.Free
	o.Limit, o.Free = 600, pipeline.FreeOptions{}
	if _, err := runSession(t, o); err != nil {
		t.Fatal(err)
	}
	o.Limit, o.Free, o.Output.Path = 0, free, o.Output.Path+".all.csv"
	a, err := runSession(t, o)
	if err != nil || v.twice() != 0 || checkFree(t, o, a) == 0 || a.Counts.FromStore == 0 || a.Free.Sample != 300 {
		t.Errorf("%+v, %+v, %v", a.Free, a.Counts, err)
	}
}

// disagrees agrees with too few free answers of the first step.
func disagrees() *vendor { return &vendor{from: 'h', share: 60} }

// TestFreeRaised has services that agree with too few of the free answers: some rows are asked after all. The output and
// the requests do not depend on interruptions.
func TestFreeRaised(t *testing.T) {
	for name, tt := range map[string]struct {
		vendor   func() *vendor
		output   string
		partRows int64
	}{
		"some disagree, in parts": {vendor: disagrees, output: "out/", partRows: 300},
		"all disagree":            {vendor: func() *vendor { return &vendor{from: 'a', share: 100} }, output: "out.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			var want string
			var wantAsked int
			var wantFree int64
			for _, quota := range []int{0, 300} {
				v := tt.vendor()
				o := freely(t, v)
				o.Output.Path, o.Output.Format, o.Output.PartRows = filepath.Join(filepath.Dir(o.Output.Path), tt.output), "csv", tt.partRows
				if tt.output != "out/" {
					o.Output.Path = filepath.Join(filepath.Dir(o.Input.Paths[0]), tt.output)
				} else {
					o.Output.Path += "/"
				}
				var acc *account.Account
				starts := 1
				for v.quota = quota; ; starts++ {
					var err error
					acc, err = runSession(t, o)
					if err == nil {
						break
					}
					if stop, _ := errors.AsType[*pipeline.StopError](err); stop == nil || starts > 50 {
						t.Fatal(err)
					}
					v.quota += quota
				}
				if quota > 0 && starts < 3 {
					t.Errorf("%d starts", starts)
				}
				a := acc.Free
				free := checkFree(t, o, acc)
				if a.Step == 1 || v.twice() > 0 || acc.Counts.OK != 1440 || acc.Counts.Read != 1440 || acc.Counts.Written != 1440 {
					t.Errorf("%+v, %d asked twice, %+v", a, v.twice(), acc.Counts)
				}
				if a.Step > 1 && (a.Bound < 0.9 || a.Missing != 0 || free == 0) || a.Step == 0 && free != 0 {
					t.Errorf("%+v, %d free", a, free)
				}
				if quota == 0 {
					want, wantAsked, wantFree = contents(t, o.Output.Path), v.answers(), free
					t.Logf("%s; %d free, %d asked", a, free, wantAsked)
					continue
				}
				if got := contents(t, o.Output.Path); got != want || v.answers() != wantAsked || free != wantFree {
					t.Errorf("after %d starts: %d bytes, %d asked, %d free; undisturbed %d, %d, %d", starts, len(got), v.answers(), free, len(want), wantAsked, wantFree)
				}
			}
		})
	}
}

// raises gathers the log of audits that have failed.
type raises struct {
	slog.Handler
	differ []int64 // disagreements of each
}

func (r *raises) Enabled(context.Context, slog.Level) bool { return true }

func (r *raises) Handle(context.Context, slog.Record) error { return nil }

func (r *raises) WithAttrs(attrs []slog.Attr) slog.Handler {
	if attrs[0].Key == "differ" {
		r.differ = append(r.differ, attrs[0].Value.Int64())
	}
	return r
}

// labelling is a hosted service that answers with the label of an input, in each classification.
type labelling struct{ label func(client.Request) string }

func (l labelling) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	a, err := client.ParseAnswer(fmt.Appendf(nil, `{%q:[{"value":%q,"title":"Any","confidence":0.25}]}`, r.Classification, l.label(r)), r.Classification)
	a.AnsweredAt = time.Now().UTC().Truncate(time.Microsecond)
	return a, err
}

// TestFreeClassifications has models of websites and of an own taxonomy. Other classifications of a run are asked.
func TestFreeClassifications(t *testing.T) {
	own, err := taxonomy.ReadCustom("product_taxonomy_custom_shop", "shop.csv", strings.NewReader("path,id\nSeating > Sofas,1\nSeating > Chairs,2\nTables,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		kind    client.Kind
		tree    *taxonomy.Custom
		labels  []string
		input   string // of a label and a number
		others  []string
		spelled string // further inputs, which ask the same
	}{
		"websites": {
			client.Website, &taxonomy.Custom{Taxonomy: *taxonomy.IAB()}, []string{"Travel", "Careers", "Sports"}, "https://zz%dqx-%d.example/", []string{"naics"},
			"http://www.zz%dqx-%d.example/?utm_source=news",
		},
		"an own taxonomy": {client.Product, own, []string{"Seating > Sofas", "Seating > Chairs", "Tables"}, "zz%dqx klint %d", []string{"product_taxonomy"}, "zz%dqx  klint %d"},
	} {
		t.Run(name, func(t *testing.T) {
			label := func(r client.Request) string {
				if r.Classification != tt.tree.Name {
					return "5415"
				}
				_, rest, _ := strings.Cut(r.Input, "zz")
				return tt.labels[rest[0]-'0']
			}
			service := embedded.New(embedded.Options{Custom: []*taxonomy.Custom{tt.tree}})
			l := learn.NewLearner(tt.kind, tt.tree)
			var text strings.Builder
			text.WriteString("url\n")
			for i := range 800 {
				input := fmt.Sprintf(tt.input, i%3, i)
				fmt.Fprintf(&text, "%s\n"+tt.spelled+"\n", input, i%3, i)
				if i >= 200 {
					continue
				}
				request := client.Request{Kind: tt.kind, Classification: tt.tree.Name, Input: fmt.Sprintf(tt.input, i%3, 10_000+i)}
				features, err := service.Features(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				l.Add(learn.Row{Line: int64(i), Input: request.Input}, features, label(request))
			}
			m, _, err := l.Train(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			o := pipeline.Options{
				Kind: tt.kind, Classifications: append([]string{tt.tree.Name}, tt.others...),
				Service: pipeline.Service{Attempter: labelling{label}, Name: "https://api.example.com", Hosted: true},
				Input:   reader.Options{Paths: []string{filepath.Join(dir, "in.csv")}, Columns: []string{"url"}},
				Output:  pipeline.OutputOptions{Path: filepath.Join(dir, "out.csv"), Form: writer.Form{Levels: 1, Shape: writer.ShapeTop}, Carry: "none"},
				Free:    pipeline.FreeOptions{Model: m, Precision: 0.9, Audit: 0.01},
			}
			if err := os.WriteFile(o.Input.Paths[0], []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := pipeline.DryRun(t.Context(), o)
			if err != nil || f.Distinct != 1600 || f.Free < 400 || f.Free > 500 || f.Audit != 300 {
				t.Errorf("the dry run: %+v, %v", f, err)
			}
			a, err := runSession(t, o)
			if err != nil {
				t.Fatal(err)
			}
			if free := checkFree(t, o, a); free != 2*f.Free || a.Counts.Requests != 1600-f.Free || a.Free.Bound < 0.9 {
				t.Errorf("%d free, %d asked, %s", free, a.Counts.Requests, a.Free)
			}
		})
	}
}

// TestFreeDrift has a service whose answers are others from the middle on. The audit stops the run before all answers of
// its sample are there.
func TestFreeDrift(t *testing.T) {
	for name, tt := range map[string]struct {
		drifted func(title string) string
		after   int64 // answers
		isFree  bool  // at the end
	}{
		"all answers":                {after: 200, drifted: func(string) string { return "Furniture > Chairs" }},
		"some answers to low grades": {after: 20, drifted: (&vendor{from: 'i', share: 40}).category, isFree: true},
	} {
		t.Run(name, func(t *testing.T) {
			answer := func(of func(string) string) func([]byte, string, string) []byte {
				return func(dst []byte, classification, input string) []byte {
					return fmt.Appendf(dst, `{%q:[{"value":%q,"confidence":0.25}]}`, classification, of(input))
				}
			}
			server, err := clienttest.NewEndpoint(clienttest.New(clienttest.Options{Answer: answer(predicted), Drifted: answer(tt.drifted), DriftsAfter: tt.after}))
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			c, err := client.New(client.Options{BaseURL: server.URL(), APIKey: "key"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			o, log := freely(t, new(vendor)), new(raises)
			o.Service, o.Log = pipeline.HostedService(c), slog.New(log)
			acc, err := runSession(t, o)
			if err != nil {
				t.Fatal(err)
			}
			audit, a := server.Audit(), acc.Free
			free := checkFree(t, o, acc)
			t.Logf("audits with %v differing answers have failed; %s; %d free", log.differ, a, free)
			if len(log.differ) == 0 || log.differ[0] >= 300 || audit.Twice() > 0 {
				t.Errorf("%v differed, %d were asked twice", log.differ, audit.Twice())
			}
			if tt.isFree != (free > 0) || tt.isFree && (a.Bound < 0.9 || a.Missing > 0) || !tt.isFree && audit.Answers != 1320 {
				t.Errorf("%d free, %d asked, %+v", free, audit.Answers, a)
			}
		})
	}
}

// TestFreeIncomplete leaves requests of the sample without an outcome.
func TestFreeIncomplete(t *testing.T) {
	v := new(vendor)
	o := freely(t, v)
	o.Retry = client.RetryPolicy{MaxAttempts: 1, MaxWait: time.Millisecond}
	v.fails = make(map[string]int)
	for i := range 24 {
		v.fails[sureTitle(41*i+20)] = 1 // others between them are answered
	}
	a, err := runSession(t, o)
	if err != nil || a.Free.Missing == 0 || a.Free.Missing > a.Counts.Failed || a.Counts.Free == 0 {
		t.Fatalf("%+v, %+v, %v", a.Free, a.Counts, err)
	}
	v.fails = nil
	a, err = runSession(t, o)
	if err != nil || a.Free.Missing != 0 || a.Free.Bound < 0.9 || a.Counts.Failed != 0 {
		t.Errorf("started again: %+v, %+v, %v", a.Free, a.Counts, err)
	}
}

// TestFreeWithoutAudit writes to a stream.
func TestFreeWithoutAudit(t *testing.T) {
	v := &vendor{from: 'a', share: 100}
	o := freely(t, v)
	var rows bytes.Buffer
	o.Free.Audit, o.Store.Path = 0, filepath.Join(filepath.Dir(o.Output.Path), "store")
	o.Output.Path, o.Output.Format, o.Output.Stdout = "-", "csv", &rows
	a, err := runSession(t, o)
	if err != nil || a.Free.Sample != 0 || a.Free.Bound != 0 || a.Free.Step != 1 || a.Counts.Free < 1200 {
		t.Fatalf("%+v, %+v, %v", a.Free, a.Counts, err)
	}
	table, err := csv.NewReader(&rows).ReadAll()
	if err != nil || len(table) != 1441 {
		t.Errorf("%d rows, %v", len(table), err)
	}
}

// TestNotSure has a precision that the model does not reach.
func TestNotSure(t *testing.T) {
	v := new(vendor)
	o := freely(t, v)
	o.Free.Precision = 0.999
	a, err := runSession(t, o)
	if err != nil || a.Free.Cause != account.Unreached || v.answers() != 1320 || a.Counts.Free != 0 || checkFree(t, o, a) != 0 {
		t.Errorf("%+v, %d asked, %v", a.Free, v.answers(), err)
	}
}

func TestFreeOptions(t *testing.T) {
	for name, tt := range map[string]struct {
		option string
		change func(o *pipeline.Options)
	}{
		"the embedded service":   {"Free.Model", func(o *pipeline.Options) { o.Service.Hosted = false }},
		"another kind":           {"Free.Model", func(o *pipeline.Options) { o.Kind = client.Website }},
		"another classification": {"Free.Model", func(o *pipeline.Options) { o.Classifications = []string{"product_taxonomy_custom_x"} }},
		"a shard":                {"Free.Model", func(o *pipeline.Options) { o.Shard, o.Output.Path = account.Shard{Number: 1, Count: 2}, "out/" }},
		"standard input":         {"Free.Model", func(o *pipeline.Options) { o.Input.Paths, o.Input.Stdin = []string{"-"}, strings.NewReader("") }},
		"records": {"Free.Model", func(o *pipeline.Options) {
			o.Input = reader.Options{Records: iter.Seq2[reader.Record, error](func(func(reader.Record, error) bool) {})}
		}},
		"a refresh": {"Free.Model", func(o *pipeline.Options) { o.Store.RefreshBudget = 10 }},
		"a stream":  {"Free.Model", func(o *pipeline.Options) { o.Output.Path, o.Output.Format = "-", "csv" }},
		"a function": {"Free.Model", func(o *pipeline.Options) {
			o.Each = func(reader.Record, []client.Entry, error) error { return nil }
		}},
		"a precision of 1": {"Free.Precision", func(o *pipeline.Options) { o.Free.Precision = 1 }},
		"an audit of 2":    {"Free.Audit", func(o *pipeline.Options) { o.Free.Audit = 2 }},
	} {
		t.Run(name, func(t *testing.T) {
			o := freely(t, new(vendor))
			tt.change(&o)
			_, err := pipeline.Open(t.Context(), o)
			if wrong, _ := errors.AsType[*output.OptionError](err); wrong == nil || wrong.Option != tt.option {
				t.Errorf("got %v", err)
			}
		})
	}
}
