package answers

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// line is an answer in an export.
type line struct {
	Source         string          `json:"source"`
	Kind           client.Kind     `json:"kind"`
	Classification string          `json:"classification"`
	Input          string          `json:"input"`
	Outcome        string          `json:"outcome"` // lineAnswer or lineRejection
	Status         int             `json:"status"`
	AnsweredAt     time.Time       `json:"answered_at"`
	Body           json.RawMessage `json:"body"`
}

const (
	lineAnswer    = "answer"
	lineRejection = "rejection"
)

// newLine makes the line of a live record. The body of an answer is an object, as the service
// sent it; the reason of a rejection is a string, also if the reason is JSON.
func newLine(r live) (line, error) {
	l := line{
		Source: r.source, Kind: r.request.Kind, Classification: r.request.Classification, Input: r.request.Input,
		Outcome: lineAnswer, Status: 200, AnsweredAt: r.outcome.Answer.AnsweredAt,
		Body: json.RawMessage(r.body),
	}
	if r.outcome.Rejection == nil {
		return l, nil
	}
	l.Outcome, l.Status = lineRejection, r.outcome.Rejection.Status
	var err error
	l.Body, err = json.Marshal(r.outcome.Rejection.Detail)
	return l, err
}

// parseLine reads a line back, and refuses what no run could have stored.
func parseLine(text []byte) (source string, r client.Request, o Outcome, err error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return "", r, o, fmt.Errorf("not an exported answer: %w", err)
	}
	r = client.Request{Kind: l.Kind, Classification: l.Classification, Input: l.Input}
	if err := l.check(); err != nil {
		return "", r, o, err
	}
	o.Answer.AnsweredAt = l.AnsweredAt.UTC().Truncate(time.Microsecond)
	if l.Outcome == lineRejection {
		o.Rejection = &client.Error{Class: client.Rejected, Status: l.Status}
		if err := json.Unmarshal(l.Body, &o.Rejection.Detail); err != nil {
			return "", r, o, fmt.Errorf("body: the reason of a rejection must be a string: %w", err)
		}
		return l.Source, r, o, nil
	}
	if _, err := client.ParseAnswer(l.Body, l.Classification); err != nil {
		return "", r, o, fmt.Errorf("body: %w", err)
	}
	o.Answer.Body = l.Body
	return l.Source, r, o, nil
}

func (l line) check() error {
	if l.Kind != client.Website && l.Kind != client.Product {
		return fmt.Errorf("kind: %q must be %s or %s", l.Kind, client.Website, client.Product)
	}
	if err := client.CheckClassification(l.Kind, l.Classification); err != nil {
		return fmt.Errorf("classification: %w", err)
	}
	switch {
	case l.Source == "" || l.Source[0] == 0 || strings.Contains(l.Source+l.Classification, "\x00"):
		return errors.New("source and classification must be there, without NUL")
	case l.Input == "":
		return errors.New("input: there is none")
	case l.AnsweredAt.IsZero():
		return errors.New("answered_at: there is none")
	case l.Outcome == lineAnswer && l.Status != 200:
		return fmt.Errorf("status: %d is not that of an answer, 200", l.Status)
	case l.Outcome == lineRejection && (l.Status < 0 || l.Status > 999):
		return fmt.Errorf("status: %d is not an HTTP status", l.Status)
	case l.Outcome != lineAnswer && l.Outcome != lineRejection:
		return fmt.Errorf("outcome: %q must be %s or %s", l.Outcome, lineAnswer, lineRejection)
	}
	return nil
}
