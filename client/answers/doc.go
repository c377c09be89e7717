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
// A request's key leads to the position of its answer. It is source, kind, classification
// and normalized input, in this order and separated by NUL, and does not change between
// versions or machines. The position is 8 bytes, big endian.
//
// An answer's value is, in this order:
//
//	version    1 byte, currently 2
//	outcome    1 byte: 1 an answer, 2 a rejection
//	status     2 bytes, big endian: the HTTP status
//	time       8 bytes, big endian: Unix microseconds of the answer
//	checksum   4 bytes, big endian: CRC-32C of all other bytes of the value
//	key        the request's key, its length before it as a varint
//	body       the answer's body as it came, or the rejection's reason
//
// Stores of format 1 had the value under the request's key, without a key in it: such
// values are read and kept, and what comes new is stored as above.
//
// Three things can go wrong with a store, and each ends otherwise. A value is damaged:
// it counts as none and is asked again. A file is damaged: a [DamageError] names it, and
// [Store.Export] saves what is readable. The disk refuses a write: the store has failed,
// every call gives the same [FailedError], and a run started again goes on from what was
// committed. In none of them does a wrong answer come back, or the process end.
package answers
