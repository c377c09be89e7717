package answers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/maphash"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Outcome is how a request ended for good.
type Outcome struct {
	Answer    client.Answer
	Rejection *client.Error // set where the service refused the input; Answer is then zero but for its time
}

const (
	valueVersion = 2

	outcomeAnswer    = 1
	outcomeRejection = 2

	checksumAt = 12
	headerSize = 16

	positionSize = 8
)

// firstSource sorts after the store's own keys and before every source.
var firstSource = []byte{1}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged is a value that is not what was written, or was written under another key.
var errDamaged = errors.New("the stored answer is damaged")

// appendKey appends the key of a request to dst.
func appendKey(dst []byte, source string, r client.Request) []byte {
	for _, part := range [...]string{source, string(r.Kind), r.Classification} {
		dst = append(dst, part...)
		dst = append(dst, 0)
	}
	return append(dst, r.Input...)
}

var keySeed = maphash.MakeSeed()

// hashKey gives the hash of a key, which is another in each process.
func hashKey(key []byte) uint64 { return maphash.Bytes(keySeed, key) }

// parseKey reads a key back; false for one that is no request's.
func parseKey(key []byte) (source string, r client.Request, ok bool) {
	parts := strings.SplitN(string(key), "\x00", 4)
	if len(parts) != 4 || parts[0] == "" {
		return "", client.Request{}, false
	}
	return parts[0], client.Request{Kind: client.Kind(parts[1]), Classification: parts[2], Input: parts[3]}, true
}

func appendPosition(dst []byte, p position) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(p))
}

// parsePosition reads what a request's key leads to; 0 for what is no position.
func parsePosition(value []byte) position {
	if len(value) != positionSize {
		return 0
	}
	return position(binary.BigEndian.Uint64(value))
}

// appendValue appends the value of an outcome to dst.
func appendValue(dst, key []byte, o Outcome) []byte {
	kind, status, body := byte(outcomeAnswer), 200, o.Answer.Body
	if o.Rejection != nil {
		kind, status, body = outcomeRejection, o.Rejection.Status, []byte(o.Rejection.Detail)
	}
	start := len(dst)
	dst = append(dst, valueVersion, kind)
	dst = binary.BigEndian.AppendUint16(dst, uint16(status))
	dst = binary.BigEndian.AppendUint64(dst, uint64(o.Answer.AnsweredAt.UnixMicro()))
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	dst = append(dst, body...)
	binary.BigEndian.PutUint32(dst[start+checksumAt:], checksum(dst[start:]))
	return dst
}

func checksum(value []byte) uint32 {
	sum := crc32.Checksum(value[:checksumAt], castagnoli)
	return crc32.Update(sum, castagnoli, value[headerSize:])
}

// splitValue finds the key in a value, and the body behind it. It does not look whether
// the value is damaged otherwise.
func splitValue(value []byte) (key, body []byte, ok bool) {
	if len(value) < headerSize || value[0] != valueVersion {
		return nil, nil, false
	}
	size, n := binary.Uvarint(value[headerSize:])
	if n <= 0 || size > uint64(len(value)-headerSize-n) {
		return nil, nil, false
	}
	rest := value[headerSize+n:]
	return rest[:size:size], rest[size:], true
}

// parseValue reads a value back. The outcome is a copy: value's memory may be reused.
func parseValue(key, value []byte, classification string) (Outcome, error) {
	own, body, ok := splitValue(value)
	if !ok || !bytes.Equal(own, key) || !isSound(value) {
		return Outcome{}, errDamaged
	}
	return parseOutcome(value, body, classification)
}

// isOf says whether a value has a key. It does not look whether the value is damaged.
func isOf(key, value []byte) bool {
	own, _, ok := splitValue(value)
	return ok && bytes.Equal(own, key)
}

// isSound says whether a value of at least headerSize bytes is what was written.
func isSound(value []byte) bool {
	return binary.BigEndian.Uint32(value[checksumAt:]) == checksum(value)
}

// parseOutcome reads a sound value's header and its body.
func parseOutcome(header, body []byte, classification string) (Outcome, error) {
	o := Outcome{Answer: client.Answer{AnsweredAt: time.UnixMicro(int64(binary.BigEndian.Uint64(header[4:]))).UTC()}}
	switch header[1] {
	case outcomeAnswer:
		answer, err := client.ParseAnswer(body, classification)
		if err != nil {
			return Outcome{}, errDamaged
		}
		o.Answer.Entries, o.Answer.Dropped = answer.Entries, answer.Dropped
		return o, nil
	case outcomeRejection:
		status := int(binary.BigEndian.Uint16(header[2:]))
		o.Rejection = &client.Error{Class: client.Rejected, Status: status, Detail: string(body)}
		return o, nil
	}
	return Outcome{}, errDamaged
}
