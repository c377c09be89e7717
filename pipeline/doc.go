// Package pipeline is the run: records in, answers asked, rows out in input order.
//
// All goroutines of a run start in [Run], one stage each:
//
//	read     takes records from the source, a task for each classification, into a bounded window
//	look up  normalizes a task's input, joins equal requests (of a website all spellings,
//	         where Options say so), finds stored answers
//	ask      sends what is left to the service, when client/limits allows
//	commit   makes answers durable, many with one fsync
//	flatten  walks the tasks in input order and turns each into rows
//	write    hands the rows to the sink
//
// The workers of the stage ask lead by turns: one waits for the next task and for the permit to
// ask, the others ask or wait to lead. A task that waits, for a retry or for an equal request
// in flight, holds no worker.
// Memory is bounded by the window: a record is read only when there is room for it, and
// its room is given back when its rows are written.
//
// A run ends in one of three ways. Complete: every record's rows are in the sink, which
// is closed and so published. Stopped ([StopError]): something said to stop (a signal,
// an empty quota); what was in flight is drained, answers stay in the store, and the
// same run started again goes on from there. Failed: any other error.
package pipeline
