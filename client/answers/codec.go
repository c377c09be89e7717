package answers

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
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
	valueVersion = 1

	outcomeAnswer    = 1
	outcomeRejection = 2

	checksumAt = 12
	headerSize = 16
)

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

// parseKey reads a key back; false for one that is no request's.
func parseKey(key []byte) (source string, r client.Request, ok bool) {
	parts := strings.SplitN(string(key), "\x00", 4)
	if len(parts) != 4 || parts[0] == "" {
		return "", client.Request{}, false
	}
	return parts[0], client.Request{Kind: client.Kind(parts[1]), Classification: parts[2], Input: parts[3]}, true
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
	dst = append(dst, body...)
	binary.BigEndian.PutUint32(dst[start+checksumAt:], checksum(key, dst[start:]))
	return dst
}

func checksum(key, value []byte) uint32 {
	sum := crc32.Update(0, castagnoli, key)
	sum = crc32.Update(sum, castagnoli, value[:checksumAt])
	return crc32.Update(sum, castagnoli, value[headerSize:])
}

// parseValue reads a value back. The body is a copy: value's memory may be reused.
func parseValue(key, value []byte, classification string) (Outcome, error) {
	if len(value) < headerSize || value[0] != valueVersion ||
		binary.BigEndian.Uint32(value[checksumAt:]) != checksum(key, value) {
		return Outcome{}, errDamaged
	}
	o := Outcome{Answer: client.Answer{AnsweredAt: time.UnixMicro(int64(binary.BigEndian.Uint64(value[4:]))).UTC()}}
	body := value[headerSize:]
	switch value[1] {
	case outcomeAnswer:
		answer, err := client.ParseAnswer(body, classification)
		if err != nil {
			return Outcome{}, errDamaged
		}
		o.Answer.Entries, o.Answer.Dropped = answer.Entries, answer.Dropped
		return o, nil
	case outcomeRejection:
		status := int(binary.BigEndian.Uint16(value[2:]))
		o.Rejection = &client.Error{Class: client.Rejected, Status: status, Detail: string(body)}
		return o, nil
	}
	return Outcome{}, errDamaged
}
