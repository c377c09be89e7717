// Package refresh chooses the oldest stored answers of a run, for the run to ask again, within a budget.
//
// The age of an answer is the time since the service last gave or confirmed it. A heap keeps the oldest answers that are
// offered, so memory depends on the budget only. An answer has changed if the service gives other categories, another order, or
// a rejection. Another confidence alone is no change.
//
// Each batch of answers also stores when the refresh began and how many answers it has asked for. A run that is resumed uses
// the rest of the budget, and asks for no answer that is newer than the beginning of the refresh. So an interrupted run asks
// for the same answers as an uninterrupted one. The refresh ends with the run.
package refresh
