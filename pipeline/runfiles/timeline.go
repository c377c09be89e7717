package runfiles

import (
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

// Timeline returns the time line of an account, continued with the starts that only the journal at path has. a may be nil.
func Timeline(path string, a *account.Account) ([]account.Span, error) {
	s := spans{}
	if a != nil {
		s.list, s.account = slices.Clone(a.Timeline), a
	}
	err := ReadJournal(path, a, s.add)
	return s.list, err
}

// mostSpans bounds the time line, which would have a span for each line of the journal: 36,000 in a run of ten hours.
const mostSpans = 120

// spans makes a time line from the lines of a journal.
type spans struct {
	list    []account.Span
	account *account.Account // nil for none
	start   int              // the number of the present start
	known   bool             // the account's time line has the present start
	last    account.JournalLine
}

// number returns the number of a start, from 1.
func (s *spans) number(start account.JournalLine) int {
	if s.account == nil {
		return s.start + 1
	}
	i := slices.IndexFunc(s.account.Earlier, func(e account.EarlierRun) bool { return e.Started.Equal(start.At) })
	switch n := len(s.account.Earlier) + 1; {
	case i >= 0:
		return i + 1
	case s.account.Started.Equal(start.At):
		return n
	default: // the start was killed after the account was written
		return max(n, s.start) + 1
	}
}

// add adds the span from the last line of the journal to this one.
func (s *spans) add(line account.JournalLine) {
	if line.Event == account.JournalStart {
		s.start = s.number(line)
		s.known = len(s.list) > 0 && s.list[len(s.list)-1].Start >= s.start
		s.last = line
		return
	}
	if s.start == 0 || s.known {
		return
	}
	state := s.last.State
	if s.last.Event == account.JournalStart {
		state = line.State
	}
	span := account.Span{
		Start: s.start, From: s.last.At, To: line.At, State: state, Ending: line.Ending,
		Records: line.Records - s.last.Records, Requests: line.Requests - s.last.Requests, Outcomes: account.Attempts{},
	}
	for class, n := range line.Outcomes {
		if n -= s.last.Outcomes[class]; n != 0 {
			span.Outcomes[class] = n
		}
	}
	if s.list, s.last = append(s.list, span), line; len(s.list) >= 2*mostSpans {
		s.shorten()
	}
}

// shorten joins neighbours of the same start in pairs: first only neighbours of the same state, then all if still too many.
func (s *spans) shorten() {
	s.joinPairs(func(a, b account.Span) bool { return a.Start == b.Start && a.State == b.State })
	if len(s.list) >= 2*mostSpans {
		s.joinPairs(func(a, b account.Span) bool { return a.Start == b.Start })
	}
	s.list = s.list[max(0, len(s.list)-2*mostSpans+1):] // only the latest spans of hundreds of starts
}

func (s *spans) joinPairs(may func(a, b account.Span) bool) {
	list, joined := s.list[:0], true
	for _, next := range s.list {
		if joined || !may(list[len(list)-1], next) {
			list, joined = append(list, next), false
			continue
		}
		list[len(list)-1].Join(next)
		joined = true
	}
	s.list = list
}
