package answers

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

var lookupAnswers = flag.Int("lookup-answers", 1_000_000, "BenchmarkLookup has a store of `N` answers")

// BenchmarkLookup looks up stored answers in the order in which they were stored, as most inputs
// that come again have it, and in other orders.
func BenchmarkLookup(b *testing.B) {
	o := Options{Path: filepath.Join(b.TempDir(), "answers.db"), Source: source}
	s, err := Open(o)
	if err != nil {
		b.Fatal(err)
	}
	n := *lookupAnswers
	start := time.Now()
	fillTypical(b, s, n)
	b.Logf("%d answers: filled in %v, %d bytes", n, time.Since(start).Round(time.Second), s.Size())
	defer s.Close()
	requests := make([]client.Request, n)
	for i := range requests {
		requests[i] = typical(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, order := range []struct {
		name string
		next func(i int) int
	}{
		{"as they arrived", func(i int) int { return i % n }},
		{"half come again", func(i int) int {
			if i%2 == 0 {
				return i / 2 % n
			}
			return random.IntN(min(i/2+1, n))
		}},
		{"scattered", func(i int) int { return i * 7919 * 31 % n }},
	} {
		for _, size := range []int{1, 256} {
			b.Run(fmt.Sprintf("%s/%d", order.name, size), func(b *testing.B) {
				b.ReportAllocs()
				queries := make([]Query, size)
				at := 0
				for b.Loop() {
					for i := range queries {
						queries[i] = Query{Request: requests[order.next(at)]}
						at++
					}
					if err := s.LookupAll(queries); err != nil || !queries[0].Found {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(size)/b.Elapsed().Seconds(), "lookups/s")
			})
		}
	}
}

func typical(i int) client.Request {
	return client.Request{Kind: client.Website, Input: fmt.Sprintf("https://site-%07d.example/", i*104729%*lookupAnswers), Classification: client.TaxonomyV3}
}

// fillTypical stores n answers of three entries.
func fillTypical(b *testing.B, s *Store, n int) {
	b.Helper()
	batch := s.NewBatch()
	for i := range n {
		body := fmt.Appendf(nil, `{"taxonomy_v3":[{"value":"Category %d > Subcategory %d > Something Specific %d","confidence":0.%04d},{"value":"Category %d > Other %d","confidence":0.5},{"value":"Category %d","confidence":0.25}]}`,
			i%30, i%200, i%700, i%9973, i%31, i%211, i%29)
		batch.Add(typical(i), Outcome{Answer: client.Answer{Body: body, AnsweredAt: noon}})
		if i%1024 == 1023 || i == n-1 {
			if err := batch.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, group := range []int{1, 32, 1024} {
		b.Run(fmt.Sprint(group), func(b *testing.B) {
			s, err := Open(Options{Path: filepath.Join(b.TempDir(), "answers.db"), Source: source})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			batch := s.NewBatch()
			n := 0
			for b.Loop() {
				for range group {
					batch.Add(request(n), answer("A > B", noon))
					n++
				}
				if err := batch.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "answers/s")
		})
	}
}
