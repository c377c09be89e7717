// Package account defines the content of the files of a run, for the next start of the same run, for the commands that read
// its output, and for other programs.
//
//   - [Account], beside the output: the inputs, counts and outputs of a run that has ended.
//   - [JournalLine], of the journal beside the output: the counts and the states of a run during the run, and of the starts
//     that left no account.
//   - [Status], beside the output: the progress of a run, for other programs.
//   - [Manifest], in a folder: its published parts.
//   - [Shards], in the folder of all shards: how the records of an input are split.
//
// Account, manifest and shards are [Sealed]: they have the number of their format and a checksum of themselves. A damaged file
// or a file of another format is an error ([DamagedError]). No file has secrets.
//
// The package opens no file and needs no reader, writer or service. Package runfiles reads and writes the files for package
// pipeline.
package account
