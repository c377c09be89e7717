// Package loop kills bulkcat repeatedly, at all moments of a run, and compares the final output
// with the output of an undisturbed run.
//
// A start is one process. A cycle makes one output: it begins with only the input, and starts each of its commands until a start
// is not killed. The commands are one run; or a run for each shard, and finish. A kill sends SIGKILL to the process at a moment
// of one of the [Phases].
//
// After every kill, each file of the output is either missing or complete. After every cycle the
// folder has exactly the files of an undisturbed run, byte for byte. The service is faulty and
// counts its answers: only requests that were in flight at a kill may be answered twice.
package loop
