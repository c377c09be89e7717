package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
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
	ConfirmedAt    time.Time       `json:"confirmed_at,omitzero"`
	Body           json.RawMessage `json:"body"`
}

const (
	lineAnswer    = "answer"
	lineRejection = "rejection"
)

// newLine makes the line of an answer. The reason of a rejection is a string, also if the reason is
// JSON.
func newLine(a answers.Stored) (l line, err error) {
	l = line{
		Source: a.Source, Kind: a.Request.Kind, Classification: a.Request.Classification, Input: a.Request.Input,
		Outcome: lineAnswer, Status: 200, AnsweredAt: a.Outcome.Answer.AnsweredAt, ConfirmedAt: a.Outcome.ConfirmedAt, Body: json.RawMessage(a.Outcome.Answer.Body),
	}
	if rejection := a.Outcome.Rejection; rejection != nil {
		l.Outcome, l.Status = lineRejection, rejection.Status
		l.Body, err = json.Marshal(rejection.Detail)
	}
	return l, err
}

// parseLine is the inverse of newLine. It refuses what no run could have stored.
func parseLine(text []byte) (a answers.Stored, err error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return a, fmt.Errorf("not an exported answer: %w", err)
	}
	if err := l.check(); err != nil {
		return a, err
	}
	a.Source, a.Request = l.Source, client.Request{Kind: l.Kind, Classification: l.Classification, Input: l.Input}
	a.Outcome.Answer.AnsweredAt = l.AnsweredAt.UTC().Truncate(time.Microsecond)
	if l.Outcome == lineRejection {
		a.Outcome.Rejection = &client.Error{Class: client.Rejected, Status: l.Status}
		if err := json.Unmarshal(l.Body, &a.Outcome.Rejection.Detail); err != nil {
			return a, fmt.Errorf("body: the reason of a rejection must be a string: %w", err)
		}
		return a, nil
	}
	if !l.ConfirmedAt.IsZero() {
		a.Outcome.ConfirmedAt = l.ConfirmedAt.UTC().Truncate(time.Microsecond)
	}
	if _, err := client.ParseAnswer(l.Body, l.Classification); err != nil {
		return a, fmt.Errorf("body: %w", err)
	}
	a.Outcome.Answer.Body = l.Body
	return a, nil
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
