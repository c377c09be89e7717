// Package answers keeps every answer that cost something on disk, so that nothing is
// paid for twice.
//
// The store of answers is the checkpoint of a run: a record counts as done once its
// answer is committed, and a run started again asks only what the store has no answer
// to. Rejections (the service refuses this one input) are kept too, with their reason;
// passing troubles never are.
//
// What is new goes to the journal, a file that is written and synced with each commit, and is
// held in memory. Many at once then move to the segments, files of answers in the order of
// their arrival that are only ever appended to; and their keys go to a database, which leads
// from a request to the place of its answer, and keeps the segments' ends. Inputs come again
// mostly in the order in which they were first asked, and so their answers are read one after
// the other, whatever the order of their keys ([Store.LookupAll]). Once many answers were sought
// by their keys, hints in memory lead to most without a look at the database.
//
// Journal and segments consist of packs: in the journal one for each commit, as it is; in
// segments some kilobytes of answers each, mostly compressed. A pack's position is the number
// of bytes before it in all segments, from 1 on; a file is named for the position that it
// begins with, and ends where the next one begins or, the last one, where the database says.
// A pack is, in this order:
//
//	version    1 byte, currently 4
//	encoding   1 byte: 0 the answers as they are, 1 an S2 block of them
//	count      2 bytes, big endian: of the answers
//	size       4 bytes, big endian: of the answers, as they are encoded
//	checksum   4 bytes, big endian: CRC-32C of the answers, as they are encoded
//	checksum   4 bytes, big endian: CRC-32C of all before it and of the pack's position, 8 bytes
//	marks      1 byte for each answer: 0; 7 in the journal if it replaces an older one; 255 in a
//	           segment if it has been replaced
//	answers    each with its length before it as a varint
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
// A request's key leads to the position of its answer's pack, 8 bytes, big endian. The key is
// source, kind, classification and normalized input, in this order and separated by NUL,
// and does not change between versions or machines.
//
// An answer that is replaced is marked where it lies. A segment of which most answers have
// been replaced is given up, after what is left has been written anew; [Store.Compact] does so
// with the others.
//
// A move is done when the database has the new end of the segments. A process that is
// killed before leaves the answers in the journal, and what it has written of segments is
// written over; one that is killed afterwards may leave a journal with an old name, which
// counts for nothing.
//
// Three things can go wrong with a store, and each ends otherwise. A pack is damaged: its
// answers count as none, and are asked again; but the last of the journal was never
// acknowledged. A file is missing, or one of the database's is damaged: a [DamageError] names
// it, when it is come to or by [Open], and [Store.Export] saves what is readable. The disk
// refuses a write: the store has failed, every call gives the same [FailedError], and a run
// started again goes on from what was committed. In none of them does another request's
// answer come back, or the process end.
package answers
