package flow

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/forecast"
)

// spelled are spellings of one website, and another website.
var spelled = []string{"http://example.com", "www.example.com/?utm_source=x", "example.com", "https://WWW.example.com/", "example.com/a"}

// newSiteRun makes a run over websites, by sites, with the answers of a store.
func newSiteRun(store *answers.Store, inputs ...string) *testRun {
	x := newTestRun(inputs...)
	x.store = store
	x.options.Kind = client.Website
	x.options.Classifications = []Classification{{Name: client.TaxonomyV3}}
	return x
}

// rowsOf runs and gives the row of each input, without its number.
func (x *testRun) rowsOf(t *testing.T) map[string]string {
	t.Helper()
	if err := x.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for i, line := range x.sink.lines {
		_, rows[x.source.inputs[i]], _ = strings.Cut(line, " ")
	}
	return rows
}

// storeOf has a run by exact spellings store the answers to inputs.
func storeOf(t *testing.T, inputs ...string) *answers.Store {
	t.Helper()
	store := openStore(t, t.TempDir())
	t.Cleanup(func() { store.Close() })
	x := newSiteRun(store, inputs...)
	x.options.Dedupe = account.DedupeExact
	x.rowsOf(t)
	return store
}

func about(input string) string { return "ok About > " + input }

// The requests and the rows do not depend on the order of the spellings of a website. Stored answers to exact
// spellings are not asked for again.
func TestBySite(t *testing.T) {
	const www, query = "https://www.example.com", "https://www.example.com/?utm_source=x"
	for _, tt := range []struct {
		name   string
		stored []string
		asked  []string
		want   []string // for each spelling the request that was answered
	}{
		{"nothing is stored", nil, []string{"https://example.com", "https://example.com/a"},
			[]string{"https://example.com", "https://example.com", "https://example.com", "https://example.com", "https://example.com/a"}},
		{"the site is stored", []string{"example.com"}, []string{"https://example.com/a"},
			[]string{"https://example.com", "https://example.com", "https://example.com", "https://example.com", "https://example.com/a"}},
		{"a spelling is stored", []string{"http://example.com"}, []string{"https://example.com", "https://example.com/a"},
			[]string{"http://example.com", "https://example.com", "https://example.com", "https://example.com", "https://example.com/a"}},
		{"all spellings are stored", spelled, nil,
			[]string{"http://example.com", query, "https://example.com", www, "https://example.com/a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inputs := slices.Clone(spelled)
			for range inputs {
				inputs = append(inputs[1:], inputs[0]) // another order
				x := newSiteRun(storeOf(t, tt.stored...), inputs...)
				rows := x.rowsOf(t)
				if asked := slices.Sorted(maps.Keys(x.service.attempts)); !slices.Equal(asked, tt.asked) {
					t.Errorf("%q: asked for %q, want %q", inputs, asked, tt.asked)
				}
				for i, input := range spelled {
					if rows[input] != about(tt.want[i]) {
						t.Errorf("%q: the row of %q is %q, want %q", inputs, input, rows[input], about(tt.want[i]))
					}
				}
				again := newSiteRun(x.store, inputs...)
				if got := again.rowsOf(t); !maps.Equal(got, rows) || again.service.asked() != 0 {
					t.Errorf("%q: the same run again asked %d times and wrote %q", inputs, again.service.asked(), got)
				}
			}
		})
	}
}

// A run that is interrupted after any record ends with the same output as a run without interruption.
func TestBySiteInterrupted(t *testing.T) {
	whole := newSiteRun(storeOf(t, spelled[1]), spelled...).rowsOf(t)
	for n := range spelled {
		store := storeOf(t, spelled[1])
		part := newSiteRun(store, spelled[:n]...)
		part.rowsOf(t)
		rest := newSiteRun(store, spelled...)
		if got := rest.rowsOf(t); !maps.Equal(got, whole) || part.service.asked()+rest.service.asked() != 2 {
			t.Errorf("after %d records: asked %d and %d times, wrote %q; want %q", n, part.service.asked(), rest.service.asked(), got, whole)
		}
	}
}

// A spelling with a stored rejection is asked for again with that spelling: else a run without RetryRejected
// would find the old rejection.
func TestBySiteRetriesRejectedSpellings(t *testing.T) {
	files := t.TempDir()
	run := func(retry bool) (rows map[string]string, asked map[string]int) {
		store, err := answers.Open(answers.Options{Path: filepath.Join(files, "answers.db"), Source: "http://service", RetryRejected: retry})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		x := newSiteRun(store, "www.example.com", "http://www.example.com")
		return x.rowsOf(t), x.service.attempts
	}
	store := openStore(t, files)
	batch := store.NewBatch()
	spelling := client.Request{Kind: client.Website, Input: "https://www.example.com", Classification: client.TaxonomyV3}
	rejection := answers.Outcome{Rejection: &client.Error{Class: client.Rejected, Status: 422, Detail: "not now"}}
	batch.Add(spelling, rejection)
	if err := errors.Join(batch.Commit(), store.Close()); err != nil {
		t.Fatal(err)
	}
	rows, asked := run(true)
	if want := map[string]int{"https://www.example.com": 1, "https://example.com": 1}; !maps.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
	if again, asked := run(false); !maps.Equal(again, rows) || len(asked) > 0 || rows["www.example.com"] != about("https://www.example.com") {
		t.Errorf("after %q the run asked for %v and wrote %q", rows, asked, again)
	}
}

// Without a store all spellings are asked as their site.
func TestBySiteWithoutStore(t *testing.T) {
	x := newSiteRun(nil, spelled...)
	rows := x.rowsOf(t)
	if x.service.attempts["https://example.com"] == 0 || len(x.service.attempts) != 2 {
		t.Errorf("asked for %v", x.service.attempts)
	}
	if rows[spelled[0]] != about("https://example.com") {
		t.Errorf("got %q", rows)
	}
}

func TestDryRunBySite(t *testing.T) {
	for _, tt := range []struct {
		stored []string
		dedupe string
		want   forecast.Forecast
	}{
		{nil, account.DedupeSite, forecast.Forecast{Records: 7, Invalid: 1, Distinct: 2, Repeated: 4, Saved: 3, SavedByHost: 4, SavedByDomain: 4}},
		{nil, account.DedupeExact, forecast.Forecast{Records: 7, Invalid: 1, Distinct: 5, Repeated: 1, Saved: 3, SavedByHost: 4, SavedByDomain: 4}},
		{nil, "host", forecast.Forecast{Records: 7, Invalid: 1, Distinct: 1, Repeated: 5, Saved: 3, SavedByHost: 4, SavedByDomain: 4}},
		{[]string{"http://example.com"}, account.DedupeSite, forecast.Forecast{Records: 7, Invalid: 1, Distinct: 3, Repeated: 3, Answered: 1, Saved: 2, SavedByHost: 3, SavedByDomain: 3}},
		{[]string{"http://example.com"}, account.DedupeExact, forecast.Forecast{Records: 7, Invalid: 1, Distinct: 5, Repeated: 1, Answered: 1, Saved: 2, SavedByHost: 3, SavedByDomain: 3}},
		{[]string{"example.com"}, account.DedupeSite, forecast.Forecast{Records: 7, Invalid: 1, Distinct: 2, Repeated: 4, Answered: 1, Saved: 3, SavedByHost: 4, SavedByDomain: 4}},
		{spelled, account.DedupeSite, forecast.Forecast{Records: 7, Invalid: 1, Distinct: 5, Repeated: 1, Answered: 5}},
		{spelled, account.DedupeExact, forecast.Forecast{Records: 7, Invalid: 1, Distinct: 5, Repeated: 1, Answered: 5}},
	} {
		t.Run(fmt.Sprintf("%q dedupe %s", tt.stored, tt.dedupe), func(t *testing.T) {
			x := newSiteRun(storeOf(t, tt.stored...), append([]string{"no website", "HTTP://example.com:80"}, spelled...)...)
			x.options.Dedupe = tt.dedupe
			got, err := NewForecast(t.Context(), Parts{Source: x.source, Store: x.store, Counters: x.counters}, x.options, nil)
			tt.want.Digest, tt.want.Inputs = got.Digest, x.source.inputs
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
			x.source = &records{inputs: x.source.inputs}
			if err := x.run(t.Context()); err != nil || int64(x.service.asked()) != got.ToAsk() {
				t.Errorf("%d requests, %v; the forecast was %d", x.service.asked(), err, got.ToAsk())
			}
		})
	}
}

// pages are of two hosts of one domain.
var pages = []string{"https://example.com/a", "www.example.com/b/", "example.com", "shop.example.com/a?x=1", "http://shop.example.com:80"}

// A page of a run by hosts or domains keeps what was paid for its own spelling or site.
func TestByHostAndDomain(t *testing.T) {
	const a, b, host, shop, query = "https://example.com/a", "https://example.com/b", "https://example.com", "https://shop.example.com", "https://shop.example.com/a?x=1"
	for _, tt := range []struct {
		name   string
		dedupe string
		stored []string
		asked  []string
		want   []string // for each page the request that was answered
	}{
		{"hosts", "host", nil, []string{host, shop}, []string{host, host, host, shop, shop}},
		{"domains", "domain", nil, []string{host}, []string{host, host, host, host, host}},
		{"hosts, and a spelling is stored", "host", []string{query}, []string{host, shop}, []string{host, host, host, query, shop}},
		{"hosts, and a site is stored", "host", []string{b}, []string{host, shop}, []string{host, b, host, shop, shop}},
		{"domains, and a host is stored", "domain", []string{shop}, []string{host}, []string{host, host, host, shop, shop}},
		{"domains, and a page and the domain are stored", "domain", []string{a, host}, nil, []string{a, host, host, host, host}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inputs := slices.Clone(pages)
			for range inputs {
				inputs = append(inputs[1:], inputs[0]) // another order
				x := newSiteRun(storeOf(t, tt.stored...), inputs...)
				x.options.Dedupe = tt.dedupe
				f, err := NewForecast(t.Context(), Parts{Source: &records{inputs: inputs}, Store: x.store}, x.options, nil)
				if err != nil || f.ToAsk() != int64(len(tt.asked)) {
					t.Errorf("%q: the forecast is %+v, %v", inputs, f, err)
				}
				rows := x.rowsOf(t)
				if asked := slices.Sorted(maps.Keys(x.service.attempts)); !slices.Equal(asked, tt.asked) {
					t.Errorf("%q: asked for %q, want %q", inputs, asked, tt.asked)
				}
				for i, input := range pages {
					if rows[input] != about(tt.want[i]) {
						t.Errorf("%q: the row of %q is %q, want %q", inputs, input, rows[input], about(tt.want[i]))
					}
				}
				again := newSiteRun(x.store, inputs...)
				again.options.Dedupe = tt.dedupe
				if got := again.rowsOf(t); !maps.Equal(got, rows) || again.service.asked() != 0 {
					t.Errorf("%q: the same run again asked %d times and wrote %q", inputs, again.service.asked(), got)
				}
			}
		})
	}
}
