package account

import (
	"iter"
	"slices"

	"github.com/bulkcat/bulkcat/client/money"
)

// A run may take several starts: after a start that was stopped or killed, another start continues the run, until the run is
// complete. The next start then begins another run. The bounds, the cost and the deadline of a run are those of all its starts.

// isLast reports whether a start has completed the run: every record has its final status, answered or not. A partial output
// has pending records.
func isLast(ending Ending, counts Snapshot) bool { return ending == Complete && counts.Pending == 0 }

// starts yields the earlier starts of the run, the latest first.
func (a *Account) starts() iter.Seq[EarlierRun] {
	return func(yield func(EarlierRun) bool) {
		for _, run := range slices.Backward(a.Earlier) {
			if isLast(run.Ending, run.Counts) || !yield(run) {
				return
			}
		}
	}
}

// StartsBefore returns the number of earlier starts of the run.
func (a *Account) StartsBefore() (starts int) {
	for range a.starts() {
		starts++
	}
	return starts
}

// Before returns the sums of the counts of the earlier starts of the run, without reasons.
func (a *Account) Before() (sums Snapshot) {
	for run := range a.starts() {
		sums.add(&run.Counts)
	}
	return sums
}

// SpentBefore returns the most that the earlier starts of the run can have spent: each attempt counts at the price of its start,
// or at the present price if the price of its start is unknown or in another currency.
func (a *Account) SpentBefore() (spent money.Amount) {
	for run := range a.starts() {
		price := a.Price
		if run.Cost != nil && run.Cost.Price.Currency == a.Price.Currency {
			price = run.Cost.Price
		}
		spent = spent.Plus(price.Of(run.Counts.Requests))
	}
	return spent
}

// SavedBy returns how many requests a run with the counts c in this start, which the account does not have yet, did not need for
// its outcomes: the outcomes of equal records, outcomes that other runs have stored, and the answers of a model. An outcome for
// which a start of the run has asked is not saved.
func (a *Account) SavedBy(c Snapshot) int64 {
	return max(0, c.OK+c.Empty+c.Rejected-c.WithOutcome-a.Before().WithOutcome)
}

// SetDeadline gives this start the deadline d, unless d is zero. If the last deadline of the run was given in the same words,
// this start gets the last deadline, or its hours on a later day: see FinishBy.
func (a *Account) SetDeadline(d FinishBy) {
	if d.IsZero() {
		return
	}
	for run := range a.starts() {
		if run.FinishBy == nil {
			continue
		}
		if run.FinishBy.Given == d.Given && d.Given != "" {
			d = run.FinishBy.of(a.Started)
		}
		break
	}
	a.FinishBy = &d
}
