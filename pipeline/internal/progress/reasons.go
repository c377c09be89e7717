package progress

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// mostReasons bounds the memory. Further reasons count as "other reasons".
const mostReasons = 64

// reasons counts records without an answer by reason.
type reasons struct {
	mu      sync.Mutex
	byClass map[account.Reason]*firstReason // keyed by status, class and text; numbers in the text are 0
}

// firstReason is a reason and the number of the first record that has it.
type firstReason struct {
	account.Reason
	first int64
}

func (s *reasons) add(status writer.Status, settled Settled) {
	reason := reasonOf(settled.Err)
	reason.Status = status
	key := account.Reason{Status: status, Class: reason.Class, Text: numbers.ReplaceAllString(reason.Text, "0")}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byClass == nil {
		s.byClass = make(map[account.Reason]*firstReason)
	}
	known := s.byClass[key]
	if known == nil && len(s.byClass) >= mostReasons {
		reason = account.Reason{Status: status, Class: account.ClassOther, Text: "other reasons"}
		key = reason
		known = s.byClass[key]
	}
	records := int64(1)
	if known != nil {
		records += known.Records
	}
	if known == nil || settled.Record.Number < known.first {
		reason.File, reason.Line = settled.Record.File, settled.Record.Line
		known = &firstReason{reason, settled.Record.Number}
		s.byClass[key] = known
	}
	known.Records = records
}

func (s *reasons) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byClass)
}

// list returns the reasons sorted by status, and within a status the most frequent first.
func (s *reasons) list() []account.Reason {
	s.mu.Lock()
	defer s.mu.Unlock()
	sorted := slices.SortedFunc(maps.Values(s.byClass), func(a, b *firstReason) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(b.Records, a.Records), cmp.Compare(a.first, b.first))
	})
	var list []account.Reason
	for _, r := range sorted {
		list = append(list, r.Reason)
	}
	return list
}

// numbers matches numbers of fields and lines, which differ between records with the same reason.
var numbers = regexp.MustCompile(`[0-9]+`)

// reasonOf returns the reason of an error, without status and record.
func reasonOf(err error) account.Reason {
	var (
		row   *reader.RowError
		input *normalize.InputError
		e     *client.Error
	)
	switch {
	case errors.As(err, &row):
		return account.Reason{Class: account.ClassRow, Text: row.Reason, Option: row.OptionName()}
	case errors.As(err, &input):
		return account.Reason{Class: account.ClassInput, Text: input.Reason}
	case errors.As(err, &e):
		return serviceReason(e)
	}
	return account.Reason{Class: account.ClassOther, Text: "other reasons", Example: err.Error()}
}

func serviceReason(e *client.Error) account.Reason {
	r := account.Reason{Class: e.Label(), Text: e.Label(), Example: e.Detail}
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
