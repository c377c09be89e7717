// Package answers keeps every answer on disk: nothing is paid for twice.
//
// The store of answers is the checkpoint of a run: a record is done once its answer is committed, and a run that starts again
// sends only the requests without a stored outcome. The store also keeps rejections (the service refuses an input for good),
// with their reason, but no transient failures.
//
// # What is on disk
//
// A store is one SQLite database in WAL mode. schema.sql describes its tables. All processes of a user share one store
// ([UserFile]), and any number may have it open. Each page has a checksum (https://sqlite.org/cksumvfs.html), and so has each
// answer. Other programs may read the database if they open it read-only. If a run was killed, and another program then opens the
// database for writing and closes it last, that program moves pages from the journal without checksums, and these pages count as
// damaged.
//
// # Several processes
//
// Commit makes a batch durable with one fsync, and waits for other processes that commit. A lookup finds the outcomes that any
// process has committed. A process claims a request shortly before sending it ([Store.Claim]). Other processes then wait for the
// outcome. They take over if the process gives the claim back, as in a pause ([Store.Release]), or is gone. The operating system
// releases its lock when the process ends. A running process also updates its row every few seconds. A suspended process keeps
// its lock, but its row gets old.
//
// Notes of the store itself are changed by one process at a time ([Store.LockNotes], [OpenNotes]). A gateway counts the usage
// of API keys in them.
//
// Processes cannot share a store on a network file system. Open refuses it there, unless one process uses it alone
// ([Options].Exclusive). That store has a rollback journal instead of a WAL.
//
// # Damage and its consequences
//
//   - The process is killed, or the power fails: committed batches are kept whole, and other batches are lost whole.
//   - A checksum is wrong: the call and every later call return an error of the kind [Damaged]. [Recover] copies all intact
//     answers to a new store.
//   - The disk refuses to read or write, or the file is removed: every call returns the same error, of the kind [Failed], until
//     the store is opened again.
//
// In no case does a lookup return a wrong answer.
package answers
