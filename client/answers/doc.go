// Package answers keeps every answer that was paid for on disk, so that nothing is paid for twice.
//
// The store of answers is the checkpoint of a run: a record of the input is done once its answer is
// committed, and a run that is started again asks only for what the store does not have. Rejections
// (the service refuses one input for good) are kept too, with their reason; transient failures are not.
//
// # What is on disk
//
//	00000001.log, 00000002.log, ...  the log: all answers in the order of their arrival
//	index/                           a database that leads from a request to the place in the log
//	LOCK, OWNER                      the lock of the process that has the store open, and its id
//	BACKUP                           the identity of the store for its copy elsewhere, if there is one
//
// A folder is a store if a log file begins with the name of the format, or OWNER has a process id. The names
// of files are not enough: other programs write 20240131.log.
//
// The log is the truth, and the index is derived from the log. A log file begins with a line that names
// the format, and consists of packs. New packs are appended to the last file. A file of 32 MiB is
// followed by a new file, and never changes again. The records of a pack are compressed if that helps:
//
//	pack                                    record
//	+----------+--------------------+       +-----------+------------------------------------+
//	| 1 byte   | 0xBC               |       | 1 byte    | 1 answer, 2 rejection, 3 rate      |
//	| 1 byte   | 0 plain, 1 S2      |       | 2 bytes   | HTTP status                        |
//	| 2 bytes  | number of records  |       | 8 bytes   | time, Unix microseconds            |
//	| 4 bytes  | length of the rest |       | varint    | length of the key                  |
//	| 4 bytes  | CRC-32C of the rest|       |           | key: source, kind, classification, |
//	| 4 bytes  | CRC-32C of header  |       |           | input, with NUL between            |
//	|          | and place          |       |           | body of the answer, or the reason  |
//	+----------+--------------------+       +-----------+------------------------------------+
//	| records, each with its length |
//	| before it as a varint         |
//	+-------------------------------+
//
// There are two more kinds of records: 4 is an answer that the service gave again, with the time of the last
// in front and the time of the first before the body, 8 bytes; 5 is a note, which a caller keeps beside the
// answers of a source.
//
// Integers are big endian. A place is the number of a log file, 4 bytes, and the offset of a pack in
// the file, 4 bytes. The index has the place of each key, and with each change also the place up to
// which it describes the log, and the checksum of the last pack before, by which it is recognized as
// the index of this log.
//
// # When an answer is durable
//
// Commit appends the packs of a batch and syncs the file once; then the answers are durable and are
// entered into the index, which is not synced. Open adds to the index what the log has behind it.
//
// A newer answer to a request is appended like any other. The older record stays in the log, and no
// longer counts, because the index leads to the newer record. Compaction copies the live records of the
// oldest file to the end of the log, makes the index durable, and removes the file. It happens when a
// file is full and most records have been replaced, and to all files on demand. Compaction leaves out
// only records whose newer record it has read; a record that the index does not know is never left out.
//
// # Damage and its consequences
//
//   - The process is killed, or the power fails: packs that were not synced are cut off.
//   - A pack is damaged: its answers are ignored, a warning is logged, and they are asked for again,
//     unless an older answer is sound and young enough.
//   - The index is damaged, missing, of another version, of another log, or ahead of the log: it is made
//     anew from the log, also while the store is open, and lookups wait for that. In a store that is only
//     read, the new index lies in memory, 30 to 60 bytes for each key, and the folder does not change; an
//     index of the version before serves such a store as it is.
//   - A log file is missing: the store is refused with a *DamageError; opened read-only, it gives what
//     is left.
//   - The disk refuses to read or write: every call returns the same *FailedError until the store is
//     opened again. All that was committed is kept.
//
// In none of these cases is another request's answer returned.
package answers
