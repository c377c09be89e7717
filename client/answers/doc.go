// Package answers keeps every answer that was paid for on disk, so that nothing is paid for twice.
//
// The store of answers is the checkpoint of a run: a record of the input is done once its answer is committed, and a run
// that is started again asks only for what the store does not have. Rejections (the service refuses one input for good)
// are kept too, with their reason; transient failures are not.
//
// # What is on disk
//
// A store is one SQLite database in WAL mode, whose tables schema.sql describes. All processes of a user share one
// ([UserFile]), and any number may have it open. Each page has a checksum (https://sqlite.org/cksumvfs.html), and so has
// each answer. Other programs may read the database, opened read-only: another program that opens it otherwise, and is the
// last to close it after a run was killed, moves pages of the journal without checksums, which are then taken for damage.
//
// # Several processes
//
// Commit makes a batch durable with one fsync, and waits for other processes that commit. A lookup finds what any process
// has committed. Before a process asks, it claims the request ([Store.Claim]); another process waits for the answer, and
// takes over if the claim is given back, or if its owner is gone. An owner holds a lock of the operating system, which ends
// with the process, and changes a row every few seconds, which a process that was stopped does not.
//
// Notes of the store itself are changed by one process at a time ([Store.LockNotes], [OpenNotes]), such as a gateway that
// counts what API keys have used.
//
// On file systems of the network this does not work: there a store is refused, unless one process has it for itself
// ([Options].Exclusive), with a rollback journal instead of WAL.
//
// # Damage and its consequences
//
//   - The process is killed, or the power fails: what was committed is there, and nothing of other batches.
//   - A page or an answer is not as it was written: the call returns a *DamageError, and so does each call from then on.
//     [Recover] copies all answers that are sound to a new store.
//   - The disk refuses to read or write, or the file is removed: every call returns the same *FailedError until the store is
//     opened again.
//
// In none of these cases is another request's answer returned, or an answer taken for one that is not stored.
package answers
