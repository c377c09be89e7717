package pipeline

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/storage"
)

// TestShardLimits has the limits of a shard with and without a gateway.
func TestShardLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		shard   account.Shard
		usage   client.Usage
		reserve int64 // -1 for none

		rate, stated float64
		requests     int64
		left         string
	}{
		"no shard":            {account.Shard{}, client.Usage{Remaining: "1000"}, -1, 100, 50, 1000, "1000"},
		"without a gateway":   {account.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "1000"}, -1, 25, 12.5, 250, "250"},
		"with a reserve":      {account.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "1000"}, 200, 25, 12.5, 250, "400"},
		"less than a reserve": {account.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "100"}, 200, 25, 12.5, 250, "100"},
		"without a quota":     {account.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "unlimited"}, -1, 25, 12.5, 250, "unlimited"},
		"with a gateway":      {account.Shard{Number: 2, Count: 4}, client.Usage{Remaining: "1000", Gateway: true}, -1, 100, 50, 250, "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOpened(Options{
				Shard:  tt.shard,
				Output: OutputOptions{Path: "-"},
				Service: Service{
					Hosted: true, Rate: 50,
					Usage: func(context.Context) (client.Usage, error) { return tt.usage, nil },
				},
				Limits: limits.Options{Rate: 100, MaxRequests: 1000, KeepReserve: tt.reserve >= 0, Reserve: tt.reserve},
			}, storage.Own(t.Context()))
			if err := o.quota.Check(t.Context(), nil, ""); err != nil {
				t.Fatal(err)
			}
			a := o.newAccount()
			c := claimed{opened: o, account: a, maxRequests: o.options.maxRequests(a)}
			bounds, stated := c.shareLimits()
			if bounds.Rate != tt.rate || stated != tt.stated || bounds.MaxRequests != tt.requests || o.quota.Usage().Remaining != tt.left {
				t.Errorf("rate %v, stated %v, requests %d, left %s", bounds.Rate, stated, bounds.MaxRequests, o.quota.Usage().Remaining)
			}
		})
	}
}

// A run that begins while a limiter blocks it waits if the service has answered an earlier run. A key that is refused as
// such ends the run.
func TestStartDuringABlock(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		stored bool
		waits  bool
	}{
		{"403, and answers are stored", http.StatusForbidden, true, true},
		{"403, and nothing is stored", http.StatusForbidden, false, false},
		{"401, and answers are stored", http.StatusUnauthorized, true, false},
		{"429, and nothing is stored", http.StatusTooManyRequests, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := client.New(client.Options{BaseURL: "http://service", Transport: refusing(tt.status)})
			if err != nil {
				t.Fatal(err)
			}
			store, err := answers.Open(answers.Options{Path: filepath.Join(t.TempDir(), "answers.db"), Source: "http://service"})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			if tt.stored {
				batch := store.NewBatch()
				batch.Add(client.Request{Kind: client.Product, Input: "another", Classification: client.ProductTaxonomy}, answers.Outcome{
					Answer: client.Answer{Body: []byte(`{"product_taxonomy":[]}`)},
				})
				if err := batch.Commit(); err != nil {
					t.Fatal(err)
				}
			}
			o := newOpened(Options{Service: Service{Attempter: c, Name: "http://service", Usage: c.Usage, Hosted: true}}, storage.Own(t.Context()))
			if err := o.quota.Check(t.Context(), store, o.options.Service.Name); (err == nil) != tt.waits {
				t.Fatal(err)
			}
			_, err = c.Attempt(t.Context(), client.Request{Kind: client.Product, Input: "x", Classification: client.ProductTaxonomy})
			if waits := client.ClassOf(err) == client.Transient; waits != tt.waits {
				t.Error(err)
			}
		})
	}
}

// refusing is a transport that answers with a status.
type refusing int

func (r refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(r), Body: http.NoBody}, nil
}
