// Package disk puts the files of bulkcat in their places: it locks outputs, and publishes files whole.
//
//   - A [Storage] is a place for files: [Local], or an object store, whose paths are URLs. A [Draft] is an unpublished file there.
//   - [PublishFile] writes and publishes a file at once. An [Output] is written in pieces.
//   - A [Lock] gives a process the exclusive right to write an output. The lock ends with the process.
//   - [CreateFile] and [ReplaceFile] write a file under a temporary name, and then link or rename it.
//   - [TempName] makes a temporary name, and [ParseTemp] recognizes the temporary files of killed processes.
//   - [SyncDir] syncs a folder.
//
// A failed operation on an output returns an [*Error], which names the output and never a temporary file. [Failed] makes one.
// If another process holds a lock, the error is a [*BusyError].
package disk
