// Package backup copies the store of answers to object storage or to a mounted folder while a run goes on, and
// restores the store on a new machine. A machine that is lost then costs the answers of the last interval, a minute by
// default, and not those of the whole run.
//
// # What a copy is
//
// The store is the files of its log (see package answers): the durable part of a file never changes, and the index is
// made anew from the log. [Backup] copies in each interval what the log has got since, and then publishes a list:
//
//	store.json                     the list: files, their objects with size and SHA-256, the time, the owner
//	00000001.log.0-33554511.3      the bytes 0 to 33554511 of a file, copied by the third owner
//	00000002.log.0-8388650.3
//	00000002.log.8388650-9000321.3
//
// The list names only objects that are complete. A file of the log is one or more objects in order. Bytes that come
// later are further objects, and an object takes the place of those before it that are less than twice as large, so that
// each byte is copied a few times and a file has few objects. A file that is full becomes one object. After the list is published,
// objects that it does not name are removed: those of files that compaction has removed, and those of killed
// processes. The copy has what the store has: inputs, answers and URLs of services, but no API key.
//
// # Who owns a copy
//
// Two machines that copy different stores to one place would each destroy the copy of the other. The list has the
// identity of the store, which is random and which the file BACKUP in the folder of the store keeps, and the owner,
// which is random for each process that copies. BACKUP also has the owners that this folder has been. A process begins
// with a list that names itself as the owner, and with an epoch, a number that is one higher than that of the owner
// before. The list is replaced only if it is the list that the process has read (If-Match in object storage, a lock in
// a folder), so that of two machines one becomes the owner, and the other gets a [TakenError]. So does the machine whose
// store was restored elsewhere meanwhile: its next list fails. The epoch is part of the names of objects. An owner
// removes only objects of its own and of earlier epochs, so that a former owner cannot remove what the present list
// names.
//
// # Failures
//
// A failure of the place is a warning, and the next interval tries again: the run goes on. [Backup.Stop] copies once
// more and says how far the copy is behind. [Restore] downloads into a folder beside the store, checks sizes and
// checksums, and renames the folder: a store is there whole or not at all. If the list is there but cannot be read,
// Restore fails, because an empty store would pay for all answers again.
package backup
