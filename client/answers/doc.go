// Package answers keeps every answer that cost something on disk, so that nothing is
// paid for twice.
//
// The store of answers is the checkpoint of a run: a record counts as done once its
// answer is committed, and a run started again asks only what the store has no answer
// to. Rejections (the service refuses this one input) are kept too, with their reason;
// passing troubles never are.
//
// Answers lie in the order of their arrival, under a position that counts them. Inputs
// come again mostly in the order in which they were first asked, and so their answers are
// read one after the other, whatever the order of their keys ([Store.LookupAll]).
//
// Answers that became durable together are packed together: a pack is one value of the
// database, some kilobytes of answers in successive positions and mostly compressed, under
// the last of them. It is, in this order:
//
//	version    1 byte, currently 3
//	encoding   1 byte: 0 the answers as they are, 1 an S2 block of them
//	checksum   4 bytes, big endian: CRC-32C of all other bytes of the pack
//	count      of the answers, as a varint
//	answers    each with its length before it as a varint; one of length 0 was replaced
//
// An answer is, in this order:
//
//	version    1 byte, currently 2
//	outcome    1 byte: 1 an answer, 2 a rejection
//	status     2 bytes, big endian: the HTTP status
//	time       8 bytes, big endian: Unix microseconds of the answer
//	checksum   4 bytes, big endian: CRC-32C of all other bytes of the answer
//	key        the request's key, its length before it as a varint
//	body       the answer's body as it came, or the rejection's reason
//
// A request's key leads to the position of its answer, 8 bytes, big endian. The key is
// source, kind, classification and normalized input, in this order and separated by NUL,
// and does not change between versions or machines. The latest keys are held in memory, and
// many go to the database at once; with them goes the position up to which all are there,
// under a key of its own. Behind it, keys are gathered from the answers when the store is
// opened. While it is open, and once many answers were sought by their keys, hints lead to most
// without a look at the keys; they are never stored.
//
// Stores of format 2 had an answer in the place of each pack, and those of format 1 had it
// under the request's key, without a key in it: such answers are read and kept, and what
// comes new is stored as above.
//
// Three things can go wrong with a store, and each ends otherwise. A value is damaged:
// it counts as none, with a pack all its answers do, and they are asked again. A file is
// damaged: a [DamageError] names it, when it is come to or, with the latest answers in it, by
// [Open], and [Store.Export] saves what is readable. The disk refuses a write: the store has failed,
// every call gives the same [FailedError], and a run started again goes on from what was
// committed. In none of them does a wrong answer come back, or the process end.
package answers
