package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Reason is a class of errors for which records have no answer.
type Reason struct {
	Status  writer.Status `json:"status"`
	Class   string        `json:"class"` // ClassRow, ClassInput, ClassOther, or the Outcome of a *client.Error
	Text    string        `json:"reason"`
	Example string        `json:"example,omitempty"` // the service's words about the first record
	Records int64         `json:"records"`
	File    string        `json:"file"` // of the first record
	Line    int64         `json:"line"`

	Option string `json:"-"` // the OptionName of the reader's error that may help; "" for none

	first int64 // number of the first record
}

// The classes of a Reason that are no Outcome of a *client.Error.
const (
	ClassRow   = "row"   // the record cannot be read
	ClassInput = "input" // the record can be read, but its input cannot be asked
	ClassOther = "other"
)

// mostReasons bounds the memory. Records of further classes count as "other reasons".
const mostReasons = 64

// reasons counts. Only records without an answer take the lock.
type reasons struct {
	mu      sync.Mutex
	byClass map[Reason]*Reason // by status, class and text without numbers
}

func (s *reasons) add(status writer.Status, t *task) {
	reason := reasonOf(t.err)
	reason.Status = status
	key := Reason{Status: status, Class: reason.Class, Text: numbers.ReplaceAllString(reason.Text, "0")}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byClass == nil {
		s.byClass = make(map[Reason]*Reason)
	}
	known := s.byClass[key]
	if known == nil && len(s.byClass) >= mostReasons {
		reason = Reason{Status: status, Class: ClassOther, Text: "other reasons"}
		key = reason
		known = s.byClass[key]
	}
	records := int64(1)
	if known != nil {
		records += known.Records
	}
	if known == nil || t.record.Number < known.first {
		reason.File, reason.Line, reason.first = t.record.File, t.record.Line, t.record.Number
		known = &reason
		s.byClass[key] = known
	}
	known.Records = records
}

// list gives the reasons by status, the most frequent first.
func (s *reasons) list() []Reason {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Reason
	for _, r := range s.byClass {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(b.Records, a.Records), cmp.Compare(a.first, b.first))
	})
	return list
}

// numbers of fields and lines differ between reasons of the same class.
var numbers = regexp.MustCompile(`[0-9]+`)

// reasonOf gives the reason of an error, without the record.
func reasonOf(err error) Reason {
	var (
		row   *reader.RowError
		input *client.InputError
		e     *client.Error
	)
	switch {
	case errors.As(err, &row):
		return Reason{Class: ClassRow, Text: row.Reason, Option: row.OptionName()}
	case errors.As(err, &input):
		return Reason{Class: ClassInput, Text: input.Reason}
	case errors.As(err, &e):
		return serviceReason(e)
	}
	return Reason{Class: ClassOther, Text: "other reasons", Example: err.Error()}
}

func serviceReason(e *client.Error) Reason {
	r := Reason{Class: e.Label(), Text: e.Label(), Example: e.Detail}
	switch {
	case e.Status == http.StatusOK:
		r.Text = "an answer that cannot be read"
	case e.Status != 0:
		r.Text = fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))
	}
	if r.Example == "" && e.Err != nil {
		r.Example = e.Err.Error()
	}
	return r
}
