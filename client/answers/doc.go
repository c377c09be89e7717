// Package answers keeps every answer that cost something on disk, so that nothing is
// paid for twice.
//
// The store of answers is the checkpoint of a run: a record counts as done once its
// answer is committed, and a run started again asks only what the store has no answer
// to. Rejections (the service refuses this one input) are kept too, with their reason;
// passing troubles never are.
//
// A key is source, kind, classification and normalized input, in this order and
// separated by NUL, so that the answers of one service lie together. It does not change
// between versions or machines.
//
// A value is, in this order:
//
//	version    1 byte, currently 1
//	outcome    1 byte: 1 an answer, 2 a rejection
//	status     2 bytes, big endian: the HTTP status
//	time       8 bytes, big endian: Unix microseconds of the answer
//	checksum   4 bytes, big endian: CRC-32C of the key and of all other bytes of the value
//	body       the answer's body as it came, or the rejection's reason
//
// Three things can go wrong with a store, and each ends otherwise. A value is damaged:
// it counts as none and is asked again. A file is damaged: a [DamageError] names it, and
// [Store.Export] saves what is readable. The disk refuses a write: the store has failed,
// every call gives the same [FailedError], and a run started again goes on from what was
// committed. In none of them does a wrong answer come back, or the process end.
package answers
