// Package pipeline is a run: it reads records, asks for the answers that are not stored, and writes rows in
// input order.
//
// A [Session] is a whole run: it locks the output, opens the input and the store, compares the quota with the number of
// requests, continues where the same run ended before, and writes an [account.Account] beside the output. During the run, a
// [runfiles.Journal] keeps its counts and states, and an [account.Status] tells other programs its progress. A [DryRun] says
// what a session would ask. The stages of a run are in internal/flow.
//
// A session reads its records from files or from a sequence (Input.Records). Its answers go to an output, to a function
// ([Each]) or to both. A session with a sequence and a function writes only the store. With the same store and the same
// records, the next session continues where this session ended: see [Answers].
//
// An error that another value of an option may prevent has a method OptionName, in this package and in the packages that it
// uses. The method returns the package and the field, such as "limits.MaxOutage", or "" if no option helps. A program
// with flags can then tell the user which flag to set.
//
// # Terms
//
// A record is one line of input, and a row one line of output. A request asks for a record in one classification; an attempt
// is one exchange with the service for a request. A request ends with an outcome: an answer, or a rejection, with which the
// service refuses the input for good. The quota is the number of requests that the API key may still make. The spool is the
// copy of standard input that is kept beside the output while the run needs it.
//
// # Ends
//
// A run ends in one of three ways. Complete: the rows of every record are in the sink, which is closed and
// so published. Stopped ([StopError]): the caller, the quota, a deadline or an outage has stopped the run;
// requests in flight are drained, answers stay in the store, and the same run started again asks only for
// the rest. Failed: any other error.
package pipeline
