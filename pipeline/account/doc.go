// Package account says what the files mean that a run leaves, for the next start of the same run, for the commands that read
// its output, and for other programs.
//
//   - [Account], beside the output: the inputs, counts and outputs of a run that has ended.
//   - [JournalLine], of the journal beside the output: the counts and the states of a run that goes on, and of the starts that
//     left no account.
//   - [Status], beside the output: how far a run is, for other programs.
//   - [Manifest], in a folder: its published parts.
//   - [Shards], in the folder of all shards: how the records of an input are split.
//
// Account, manifest and shards are [Sealed]: they have the number of their format and a checksum of themselves, and are refused
// if they are damaged or of another format ([DamagedError]). No file has secrets.
//
// The package opens no file and needs no reader, writer or service: package runfiles has the files, and package pipeline what
// a run does with them.
package account
