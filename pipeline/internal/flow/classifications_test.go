package flow

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/internal/forecast"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/writer"
)

// twofold answers in two classifications, the second sooner than the first, and runs out of
// quota after some answers.
type twofold struct {
	mu    sync.Mutex
	asked map[client.Request]int
	quota int
}

const second = client.CustomPrefix + "second"

func (s *twofold) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	if r.Classification != second {
		time.Sleep(time.Duration(len(r.Input)) * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quota--; s.quota < 0 {
		return client.Answer{}, &client.Error{Class: client.Quota, Status: 402}
	}
	s.asked[r]++
	body := fmt.Sprintf(`{%q:[{"value":"About > %s","confidence":0.5}]}`, r.Classification, r.Input)
	answer, err := client.ParseAnswer([]byte(body), r.Classification)
	answer.AnsweredAt = time.Now()
	return answer, err
}

// rowsShown is a Sink that keeps the columns that differ between classifications.
type rowsShown struct {
	rows
	lines []string
}

func (s *rowsShown) Write(rows []writer.Row) error {
	for _, r := range rows {
		s.lines = append(s.lines, fmt.Sprint(r.Record, " ", r.Classification, " ", r.Status, " ", r.Value, " ", r.CategoryID))
	}
	return nil
}

// Every record has rows in each classification, in the order of the classifications, whatever the order of
// the answers, and even if the run is stopped and started again. Equal inputs are one request in each
// classification.
func TestClassificationsOfARecordStandTogether(t *testing.T) {
	inputs := numbered(300)
	inputs[7], inputs[8], inputs[150] = "", inputs[0], inputs[149]
	var want []string
	for i, input := range inputs {
		for _, name := range []string{client.ProductTaxonomy, second} {
			id := ""
			if name == second {
				id = "id of About > " + input
			}
			line := fmt.Sprintf("%d %s ok About > %s %s", i+1, name, input, id)
			if input == "" {
				line = fmt.Sprintf("%d %s blank  ", i+1, name)
			}
			want = append(want, line)
		}
	}
	for _, quotas := range [][]int{{1 << 30}, {0, 1, 250, 1 << 30}} {
		synctest.Test(t, func(t *testing.T) {
			service, files := &twofold{asked: make(map[client.Request]int)}, t.TempDir()
			for i, quota := range quotas {
				service.quota = quota
				sink, counters, err := runTwofold(t, files, service, inputs)
				if last := i == len(quotas)-1; (err == nil) != last || sink.closed != last {
					t.Fatalf("with a quota of %d: %v, closed %t", quota, err, sink.closed)
				}
				if err != nil {
					continue
				}
				if !slices.Equal(sink.lines, want) {
					t.Errorf("got %d rows, want %d: %.300q", len(sink.lines), len(want), sink.lines)
				}
				if counters.Read.Load() != 300 || counters.Written.Load() != 300 || counters.OK.Load() != 598 || counters.Blank.Load() != 2 {
					t.Errorf("counted %+v", counters.Snapshot())
				}
			}
			for r, n := range service.asked {
				if n != 1 {
					t.Errorf("%v was asked %d times", r, n)
				}
			}
			if len(service.asked) != 2*297 {
				t.Errorf("%d different requests, want %d", len(service.asked), 2*297)
			}
		})
	}
}

func runTwofold(t *testing.T, files string, service *twofold, inputs []string) (*rowsShown, *progress.Counters, error) {
	t.Helper()
	store := openStore(t, files)
	defer store.Close()
	sink, counters := new(rowsShown), new(progress.Counters)
	_, err := Run(t.Context(), Parts{
		Source: &records{inputs: inputs}, Attempter: service, Sink: sink, Counters: counters, Store: store,
		Limits: limits.New(limits.Options{Rate: 1000, InFlight: 8}, time.Now()),
	}, Options{
		Kind: client.Product, Conduct: Conduct{Retry: client.DefaultRetryPolicy()},
		Classifications: []Classification{
			{Name: client.ProductTaxonomy},
			{Name: second, Index: taxonomy.NewIndex(taxonomyOf(inputs))},
		},
	})
	return sink, counters, err
}

// taxonomyOf returns a taxonomy with the values of the answers to inputs.
func taxonomyOf(inputs []string) *taxonomy.Taxonomy {
	t := new(taxonomy.Taxonomy)
	for _, input := range inputs {
		t.Categories = append(t.Categories, taxonomy.Category{ID: "id of About > " + input, Path: "About > " + input})
	}
	return t
}

// A forecast counts records once and requests in each classification.
func TestForecastOfTwoClassifications(t *testing.T) {
	options := Options{Kind: client.Product, Classifications: []Classification{{Name: client.ProductTaxonomy}, {Name: second}}}
	got, err := NewForecast(t.Context(), Parts{Source: &records{inputs: []string{"a", "b", "", "a"}}}, options, nil)
	if want := (forecast.Forecast{Records: 4, Blank: 1, Distinct: 4, Repeated: 2, Digest: got.Digest, Inputs: []string{"a", "b", "", "a"}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
