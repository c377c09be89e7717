// Package refresh asks again for the stored answers that are oldest, within a budget.
//
// An answer is as old as the time at which the service gave or confirmed it last. While the answers of a run pass by, the
// oldest are kept in a heap, so that memory depends on the budget only. An answer has changed if the service gives other
// categories, in another order, or a rejection. A change of confidence only is no change.
//
// The store notes when the refresh of a run began and how many answers it has asked for, with each commit of answers. A run
// that was stopped or killed and is started again asks for the rest of the budget, and for no answer that is newer than the
// beginning: all starts together make the choice that one would have made. The refresh ends with the run.
package refresh
