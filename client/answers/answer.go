package answers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Outcome is how a request ended: with an answer or with a rejection.
type Outcome struct {
	Answer    client.Answer
	Rejection *client.Error // set for a rejection; only AnsweredAt of Answer is set then

	// ConfirmedAt is when the service gave the same answer again; zero for an answer that was given once.
	// AnsweredAt is then the time of the first.
	ConfirmedAt time.Time
}

// AskedAt is when the service gave the outcome last.
func (o Outcome) AskedAt() time.Time {
	if o.ConfirmedAt.IsZero() {
		return o.Answer.AnsweredAt
	}
	return o.ConfirmedAt
}

// Kinds of records in the log.
const (
	kindAnswer    = 1
	kindRejection = 2
	kindRate      = 3 // the learned rate of a source
	kindConfirmed = 4 // an answer that was given again: before the body, the time of the first, 8 bytes
	kindNote      = 5 // what a caller keeps beside the answers of a source
)

// recordHeader is the size of a record without its key and body: kind, status, time.
const recordHeader = 1 + 2 + 8

// errDamaged says that stored bytes are not the bytes that were written.
var errDamaged = errors.New("the stored answer is damaged")

// appendKey appends the key of a request to dst: source, kind, classification and normalized
// input, separated by NUL. The key does not change between versions or machines.
func appendKey(dst []byte, source string, r client.Request) []byte {
	for _, part := range [...]string{source, string(r.Kind), r.Classification} {
		dst = append(dst, part...)
		dst = append(dst, 0)
	}
	return append(dst, r.Input...)
}

// parseKey is the inverse of appendKey; false for the key of a learned rate or a note.
func parseKey(key string) (source string, r client.Request, ok bool) {
	parts := strings.SplitN(key, "\x00", 4)
	if len(parts) != 4 || parts[0] == "" {
		return "", client.Request{}, false
	}
	return parts[0], client.Request{Kind: client.Kind(parts[1]), Classification: parts[2], Input: parts[3]}, true
}

// appendOutcome appends the record of an outcome to dst.
func appendOutcome(dst, key []byte, o Outcome) []byte {
	if o.Rejection != nil {
		return appendRecord(dst, kindRejection, o.Rejection.Status, o.Answer.AnsweredAt, key, []byte(o.Rejection.Detail))
	}
	if !o.ConfirmedAt.IsZero() {
		dst = appendRecord(dst, kindConfirmed, 200, o.ConfirmedAt, key, nil)
		dst = binary.BigEndian.AppendUint64(dst, uint64(o.Answer.AnsweredAt.UnixMicro()))
		return append(dst, o.Answer.Body...)
	}
	return appendRecord(dst, kindAnswer, 200, o.Answer.AnsweredAt, key, o.Answer.Body)
}

// bodyOf returns the body of an answer's record.
func bodyOf(record []byte) []byte {
	_, body := splitRecord(record)
	if record[0] == kindConfirmed {
		return body[8:]
	}
	return body
}

// timeAt reads a time of a record.
func timeAt(text []byte) time.Time {
	return time.UnixMicro(int64(binary.BigEndian.Uint64(text))).UTC()
}

func appendRecord(dst []byte, kind byte, status int, at time.Time, key, body []byte) []byte {
	dst = append(dst, kind)
	dst = binary.BigEndian.AppendUint16(dst, uint16(status))
	dst = binary.BigEndian.AppendUint64(dst, uint64(at.UnixMicro()))
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	return append(dst, body...)
}

// splitRecord finds the key and the body of a record. The key is nil if there is none.
func splitRecord(record []byte) (key, body []byte) {
	if len(record) < recordHeader {
		return nil, nil
	}
	key, body, ok := cutSized(record[recordHeader:])
	if !ok {
		return nil, nil
	}
	return key, body
}

// hasKey reports whether a record has a key.
func hasKey(record, key []byte) bool {
	own, _ := splitRecord(record)
	return own != nil && bytes.Equal(own, key)
}

// parseOutcome reads the outcome of a record. The outcome is a copy: the memory of the record
// may be used again.
func parseOutcome(record []byte, classification string) (Outcome, error) {
	key, body := splitRecord(record)
	if key == nil {
		return Outcome{}, errDamaged
	}
	o := Outcome{Answer: client.Answer{AnsweredAt: timeAt(record[3:])}}
	if record[0] == kindConfirmed {
		if len(body) < 8 {
			return Outcome{}, errDamaged
		}
		o.ConfirmedAt, o.Answer.AnsweredAt, body = o.Answer.AnsweredAt, timeAt(body), body[8:]
	}
	switch record[0] {
	case kindAnswer, kindConfirmed:
		answer, err := client.ParseAnswer(body, classification)
		if err != nil {
			return Outcome{}, errDamaged
		}
		o.Answer.Entries, o.Answer.Dropped = answer.Entries, answer.Dropped
		return o, nil
	case kindRejection:
		o.Rejection = &client.Error{Class: client.Rejected, Status: int(binary.BigEndian.Uint16(record[1:])), Detail: string(body)}
		return o, nil
	}
	return Outcome{}, errDamaged
}

// appendSized appends bytes with their length before them.
func appendSized(dst, text []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

// cutSized cuts off the first bytes that appendSized has appended.
func cutSized(text []byte) (first, rest []byte, ok bool) {
	size, n := binary.Uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) {
		return nil, nil, false
	}
	end := n + int(size)
	return text[n:end:end], text[end:], true
}
