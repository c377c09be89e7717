// Package disk locks the outputs of bulkcat, and writes small files that appear whole or not at all.
//
//   - A [Lock] is the exclusive right of a process to write an output. It ends with the process.
//   - [CreateFile] and [ReplaceFile] write a file under a temporary name, and then give it its own.
//   - [TempName] makes a temporary name, and [ParseTemp] recognizes those that killed processes have left.
//   - A [File] starts to write its content to the disk early, so that its Sync is short. [SyncDir] syncs a folder.
//
// A failure of an operation on an output is an [*Error], which names the output and never a temporary file. [Failed] makes
// one. The lock of another process is a [*BusyError].
package disk
