package account

import (
	"testing"

	"github.com/bulkcat/bulkcat/client/money"
)

func TestCosts(t *testing.T) {
	price := money.Price{Request: 2_000_000, Currency: "EUR"}
	counts := func(requests, shared, saved int64) (s Snapshot) {
		s.Requests, s.Shared, s.OK = requests, shared, saved
		return s
	}
	start := func(ending Ending, requests int64, price money.Price) EarlierRun {
		a := &Account{Price: price}
		a.Finish(ending, nil, counts(requests, 0, 0), nil)
		return EarlierRun{Ending: ending, Counts: a.Counts, Cost: a.Cost}
	}
	killed := EarlierRun{Ending: Killed, Counts: counts(50, 10, 0)}
	dearer := money.Price{Request: 3_000_000, Currency: "EUR"}
	tests := []struct {
		name                string
		price               money.Price
		earlier             []EarlierRun
		now                 Snapshot
		spent, total, saved string
	}{
		{"one start", price, nil, counts(1000, 0, 25), "2.00", "2.00", "0.05"},
		{"what a gateway has", price, nil, counts(1000, 400, 0), "1.20", "1.20", "0.00"},
		{"a start that ended early", price, []EarlierRun{start("budget", 500, price)}, counts(1000, 0, 0), "2.00", "3.00", "0.00"},
		{"a start that was killed", price, []EarlierRun{killed}, counts(1000, 0, 0), "2.00", "2.08", "0.00"},
		{"a start before a complete one", price, []EarlierRun{start("quota", 700, price), start(Complete, 300, price), start("quota", 100, price)}, counts(1000, 0, 0), "2.00", "2.20", "0.00"},
		{"another price before", price, []EarlierRun{start("quota", 100, dearer)}, counts(1000, 0, 0), "2.00", "2.30", "0.00"},
		{"another currency before", price, []EarlierRun{start("quota", 100, money.Price{Request: 3_000_000, Currency: "USD"})}, counts(1000, 0, 0), "2.00", "2.00", "0.00"},
		{"more than there is", money.Price{Request: 1 << 50, Currency: "VND"}, []EarlierRun{killed}, counts(1_000_000, 0, 0), "9223372036.854775807", "9223372036.854775807", "0.00"},
		{"no price before", price, []EarlierRun{start("quota", 100, money.Price{})}, counts(1000, 0, 0), "2.00", "2.20", "0.00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &Account{Price: tt.price, Earlier: tt.earlier}
			c := a.CostOf(tt.now)
			if c.Spent.String() != tt.spent || c.Total.String() != tt.total || c.Saved.String() != tt.saved {
				t.Errorf("spent %s, total %s, saved %s; want %s, %s, %s", c.Spent, c.Total, c.Saved, tt.spent, tt.total, tt.saved)
			}
		})
	}
	if c := new(Account).CostOf(counts(1, 0, 0)); c != nil {
		t.Errorf("without a price the cost is %+v", c)
	}
}

func TestCostsOfShards(t *testing.T) {
	of := func(request money.Amount, spent money.Amount) *Account {
		return &Account{Cost: &money.Cost{Price: money.Price{Request: request, Currency: "EUR"}, Spent: spent, Total: spent, Saved: 1}}
	}
	if c := costOfShards([]*Account{of(5, 100), of(5, 20)}); c == nil || c.Spent != 120 || c.Total != 120 || c.Saved != 2 {
		t.Errorf("two shards cost %+v", c)
	}
	for name, list := range map[string][]*Account{"without a price": {of(5, 1), {}}, "of another price": {of(5, 1), of(6, 1)}} {
		if c := costOfShards(list); c != nil {
			t.Errorf("a shard %s: %+v", name, c)
		}
	}
}
