package embedded

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// modelOfSites makes a model of websites with invented names.
func modelOfSites(t *testing.T, classification string, labels ...string) *learn.Model {
	t.Helper()
	l := learn.NewLearner(client.Website, &taxonomy.Custom{Taxonomy: *taxonomy.Published(classification)})
	for i := range 60 {
		label := labels[i%len(labels)]
		input := fmt.Sprintf("https://zz%dqx-%d.example/", i%len(labels), i)
		features, err := shared.Features(t.Context(), client.Request{Kind: client.Website, Classification: classification, Input: input})
		if err != nil {
			t.Fatal(err)
		}
		l.Add(learn.Row{File: "sites.csv", Line: int64(i), Input: input}, features, label)
	}
	m, _, err := l.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A service with a model answers with it over HTTP, in process and in an explanation, and in other classifications as
// without it.
func TestModel(t *testing.T) {
	service := New(Options{Logger: quiet, Models: []*learn.Model{
		modelOfSites(t, "taxonomy_v3", "Travel", "Careers", "Sports"), modelOfSites(t, "naics", "6212", "44-45", "541511"),
	}})
	for _, tt := range []struct{ name, classification, input, want string }{
		{"a topic", "taxonomy_v3", "https://zz1qx.example/", "Careers"},
		{"another topic", "taxonomy_v3", "https://www.zz2qx-new.example/", "Sports"},
		{"what the engine knows", "taxonomy_v3", "https://cheap-hotels.example/", "Travel"},
		{"a sector", "naics", "https://zz1qx.example/", "44-45"},
		{"an industry", "naics", "https://zz2qx.example/", "541511"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			request := client.Request{Kind: client.Website, Classification: tt.classification, Input: tt.input}
			answer, err := service.Attempt(t.Context(), request)
			if err != nil || len(answer.Entries) == 0 || !strings.HasPrefix(answer.Entries[0].Value, tt.want) {
				t.Fatalf("got %+v, %v, want %s", answer.Entries, err, tt.want)
			}
			explained, err := service.Explain(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			served := get(t, service, WebsitePath, "url", tt.input, "classification", tt.classification)
			if string(explained.Answer) != served.body || !json.Valid(explained.Answer) {
				t.Errorf("explained %s\nserved    %s", explained.Answer, served.body)
			}
			checkContributions(t, explained.Contributions, served.entries(t, tt.classification))
		})
	}
	product := client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: "garden hose"}
	got, err := service.Attempt(t.Context(), product)
	want, wantErr := shared.Attempt(t.Context(), product)
	if err != nil || wantErr != nil || fmt.Sprint(got.Entries) != fmt.Sprint(want.Entries) {
		t.Errorf("products: got %v, %v; without models %v, %v", got.Entries, err, want.Entries, wantErr)
	}
}
