package embedded

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

// In process and over HTTP the service gives the same answers and rejections.
func TestCategorizeAnswersAsServed(t *testing.T) {
	s := lent(New(Options{Logger: quiet}))
	over, err := s.Client(client.Options{APIKey: "any"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []client.Request{
		{Kind: client.Product, Classification: client.ProductTaxonomy, Input: "garden hose, 20 m"},
		{Kind: client.Product, Classification: client.ProductTaxonomy, Input: "https://shop.example/garden-hose"},
		{Kind: client.Product, Classification: client.ProductTaxonomy, Input: "zzzz"},
		{Kind: client.Website, Classification: client.TaxonomyV3, Input: "https://football-news.example/"},
		{Kind: client.Website, Classification: client.NAICS, Input: "https://valley-dentist.example/"},
		{Kind: client.Website, Classification: client.TaxonomyV3, Input: "ftp://files.example/"},
		{Kind: client.Product, Classification: client.CustomPrefix + "none", Input: "hose"},
		{Kind: client.Product, Classification: client.ProductTaxonomy, Input: strings.Repeat("x", maxInput+1)},
	} {
		want, wantErr := over.Attempt(t.Context(), r)
		got, gotErr := s.Attempt(t.Context(), r)
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || wantErr != nil && client.ClassOf(gotErr) != client.ClassOf(wantErr) {
			t.Errorf("%.60q: error %v in process, %v over HTTP", r.Input, gotErr, wantErr)
		}
		if wantErr == nil && (!reflect.DeepEqual(got.Entries, want.Entries) || !got.Free || got.AnsweredAt.IsZero()) {
			t.Errorf("%.60q: %+v in process, %+v over HTTP", r.Input, got, want)
		}
	}
}

func TestCategorizeCanceled(t *testing.T) {
	want := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(want)
	_, err := lent(New(Options{Logger: quiet})).Attempt(ctx, client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: "hose"})
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// A title costs its classification and the list of entries.
func BenchmarkCategorize(b *testing.B) {
	s := lent(New(Options{Logger: quiet}))
	r := client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: "Nike Air Zoom Pegasus running shoes for men, black/white, size 10"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Attempt(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
