// Package stdin lets a run read a pipe, such as standard input: a [Pump] makes a waiting Read interruptible, and a [Spool] also
// copies the pipe to a file, from which the run can be resumed.
package stdin
