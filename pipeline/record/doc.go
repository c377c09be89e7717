// Package record is what a run writes down about itself, for the next start of the same run, for the commands that read
// its output, and for other programs.
//
//   - [Account], beside the output: the inputs, counts and outputs of a run that has ended.
//   - [Journal], beside the output: the counts and the states of a run that goes on, and of the starts that left no account.
//   - [Status], beside the output: how far a run is, for other programs.
//   - [Manifest], in a folder: its published parts.
//   - [Shards], in the folder of all shards: how the records of an input are split.
//
// Account, manifest and shards are sealed: they have the number of their format and a checksum of themselves, are written
// whole or not at all, and are refused if they are damaged or of another format ([DamagedError]). Journal and status
// change while a run goes on: a damaged line of a journal is left out, and a status is only replaced.
//
// The package says what the files mean. When a run writes them, and what it does with those that it finds, is in package
// pipeline. No file has secrets.
package record
