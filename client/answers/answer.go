package answers

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Outcome is the end of a request: an answer or a rejection.
type Outcome struct {
	Answer    client.Answer
	Rejection *client.Error // nil for an answer; else only AnsweredAt is set in Answer

	// ConfirmedAt is when the service last gave the same answer again; zero if it gave the answer once. AnsweredAt is when the
	// service first gave the answer.
	ConfirmedAt time.Time
}

// AskedAt is when the service last gave the outcome.
func (o Outcome) AskedAt() time.Time {
	if o.ConfirmedAt.IsZero() {
		return o.Answer.AnsweredAt
	}
	return o.ConfirmedAt
}

// Stored is a stored outcome. Its answer has the body that the service sent.
type Stored struct {
	Source  string
	Request client.Request
	Outcome Outcome
}

// row is a row of the table answers. Its texts may be in the engine's memory.
type row struct {
	service, kind, classification, input []byte
	result                               []byte // answer or rejection
	status                               int64
	asked, answered                      int64 // Unix microseconds
	body                                 []byte
}

// Values of the column outcome.
const (
	answered = "answer"
	rejected = "rejection"
)

func newRow(source string, r client.Request, o Outcome) row {
	w := row{
		service: []byte(source), kind: []byte(r.Kind), classification: []byte(r.Classification), input: []byte(r.Input),
		result: []byte(answered), status: http.StatusOK, asked: o.AskedAt().UnixMicro(), answered: o.Answer.AnsweredAt.UnixMicro(), body: o.Answer.Body,
	}
	if o.Rejection != nil {
		w.result, w.status, w.body = []byte(rejected), int64(o.Rejection.Status), []byte(o.Rejection.Detail)
	}
	return w
}

// outcome is the inverse of newRow, with or without the body of an answer. The outcome is a copy of the row. The error is errDamaged.
func (w *row) outcome(classification string, withBody bool) (Outcome, error) {
	o := Outcome{Answer: client.Answer{AnsweredAt: time.UnixMicro(w.answered).UTC()}}
	if string(w.result) == rejected {
		o.Rejection = &client.Error{Class: client.Rejected, Status: int(w.status), Detail: string(w.body)}
		return o, nil
	}
	if w.asked != w.answered {
		o.ConfirmedAt = time.UnixMicro(w.asked).UTC()
	}
	answer, err := client.ParseAnswer(w.body, classification)
	if err != nil {
		return Outcome{}, errDamaged
	}
	o.Answer.Entries, o.Answer.Dropped = answer.Entries, answer.Dropped
	if withBody {
		o.Answer.Body = bytes.Clone(w.body)
	}
	return o, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the CRC-32C of all columns except id: each text followed by a zero byte, then the numbers, big-endian, and the
// body.
func (w *row) checksum() int64 {
	var sum uint32
	for _, text := range [...][]byte{w.service, w.kind, w.classification, w.input, w.result} {
		sum = crc32.Update(sum, castagnoli, text)
		sum = crc32.Update(sum, castagnoli, []byte{0})
	}
	var numbers [24]byte
	for i, n := range [...]int64{w.status, w.asked, w.answered} {
		binary.BigEndian.PutUint64(numbers[8*i:], uint64(n))
	}
	sum = crc32.Update(sum, castagnoli, numbers[:])
	return int64(crc32.Update(sum, castagnoli, w.body))
}
