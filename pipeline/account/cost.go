package account

import "github.com/bulkcat/bulkcat/client/money"

// CostOf is the cost of a run with so many counts in this start, which is not yet in the account; nil if there is no price.
func (a *Account) CostOf(c Snapshot) *money.Cost {
	if a.Price.Request == 0 {
		return nil
	}
	cost := &money.Cost{Price: a.Price, Spent: a.Price.Of(c.Paid()), Saved: a.Price.Of(a.SavedBy(c))}
	cost.Total = cost.Spent
	for run := range a.starts() {
		switch {
		case run.Cost == nil: // killed, or without a price
			cost.Total = cost.Total.Plus(a.Price.Of(run.Counts.Paid()))
		case run.Cost.Price.Currency == a.Price.Currency:
			cost.Total = cost.Total.Plus(run.Cost.Spent)
		}
	}
	return cost
}

// Paid is the number of attempts that cost something: what a gateway has already is free.
func (s Snapshot) Paid() int64 { return s.Requests - s.Shared }

// costOfShards is the sum of what shards cost; nil if one has no price, or if the prices differ.
func costOfShards(accounts []*Account) *money.Cost {
	var sum money.Cost
	for i, a := range accounts {
		if a.Cost == nil || i > 0 && a.Cost.Price != sum.Price {
			return nil
		}
		sum = money.Cost{Price: a.Cost.Price, Spent: sum.Spent.Plus(a.Cost.Spent), Total: sum.Total.Plus(a.Cost.Total), Saved: sum.Saved.Plus(a.Cost.Saved)}
	}
	return &sum
}
