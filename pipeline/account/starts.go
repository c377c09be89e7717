package account

import (
	"iter"
	"slices"

	"github.com/bulkcat/bulkcat/client/money"
)

// A run may take several starts: a start that was stopped or killed is followed by another, until the run is complete. The
// next start after that is the first of another run. Bounds of a run, its cost and its deadline are those of all its starts.

// isLast reports whether a start has completed the run: every record has its status, also if that is no answer. A partial
// output has pending records.
func isLast(ending Ending, counts Snapshot) bool { return ending == Complete && counts.Pending == 0 }

// starts gives the earlier starts of the run, the latest first.
func (a *Account) starts() iter.Seq[EarlierRun] {
	return func(yield func(EarlierRun) bool) {
		for _, run := range slices.Backward(a.Earlier) {
			if isLast(run.Ending, run.Counts) || !yield(run) {
				return
			}
		}
	}
}

// StartsBefore is how many starts of the run were before this one.
func (a *Account) StartsBefore() (starts int) {
	for range a.starts() {
		starts++
	}
	return starts
}

// RequestsBefore is how many requests the earlier starts of the run have made.
func (a *Account) RequestsBefore() (requests int64) {
	for run := range a.starts() {
		requests += run.Counts.Requests
	}
	return requests
}

// SpentBefore is what the earlier starts of the run have spent at most: each attempt counts, and one in another currency
// as one at the present price.
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

// OutcomesBefore is how many requests of the earlier starts of the run have an outcome.
func (a *Account) OutcomesBefore() (requests int64) {
	for run := range a.starts() {
		requests += run.Counts.WithOutcome
	}
	return requests
}

// SavedBy is how many requests a run with so many counts in this start, which is not yet in the account, did not need for
// its outcomes: those of equal records, those that other runs have stored, and the answers of a model. An outcome that the
// run has asked for itself is not saved, whichever start has asked.
func (a *Account) SavedBy(c Snapshot) int64 {
	return max(0, c.OK+c.Empty+c.Rejected-c.WithOutcome-a.OutcomesBefore())
}

// SetDeadline gives this start a deadline, unless it is zero. If the last deadline of the run was given in the same words,
// that holds, or its hours on a later day: see FinishBy.
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
