package client

import (
	"context"
	"errors"
	"testing"
)

func TestStanding(t *testing.T) {
	const class = ProductTaxonomy
	r := Request{Kind: Product, Input: "hose", Classification: class}
	some, none := Answer{Entries: []Entry{{}}}, Answer{}
	misfit := &Error{Class: Fatal, Status: 200, Err: &ShapeError{}}
	tells := func(err error) func(*Standing) {
		return func(s *Standing) {
			_, _ = s.askUsage(context.Background(), func(context.Context) (Usage, error) { return Usage{Remaining: "10"}, err })
		}
	}
	sends := func(a Answer, err error) func(*Standing) {
		return func(s *Standing) {
			_, _ = observed{responds{a, err}, s}.Attempt(context.Background(), r)
		}
	}
	recalls := func(a Answer) func(*Standing) { return func(s *Standing) { s.Recall(r, a) } }
	stored := func(has bool) func(*Standing) {
		return func(s *Standing) { _, _ = s.Ever(func() (bool, error) { return has, nil }) }
	}
	doubt := func(s *Standing) { s.Doubt() }
	type shown struct{ now, ever bool }
	for _, tt := range []struct {
		name    string
		events  []func(*Standing)
		state   State
		reached bool
		known   bool
		shown   shown
		left    int64 // -1 if unknown
	}{
		{"nothing", nil, Unknown, false, false, shown{}, -1},
		{"its quota", []func(*Standing){tells(nil)}, Unknown, true, false, shown{}, 10},
		{"no quota", []func(*Standing){tells(misfit)}, Unknown, false, false, shown{}, -1},
		{"a failure", []func(*Standing){sends(none, &Error{Class: Transient, Status: 500})}, Unknown, false, false, shown{}, -1},
		{"a rejection", []func(*Standing){sends(none, &Error{Class: Rejected, Status: 404})}, Unknown, false, false, shown{}, -1},
		{"an empty answer", []func(*Standing){sends(none, nil)}, Answering, true, true, shown{}, -1},
		{"an answer with entries", []func(*Standing){sends(some, nil)}, Answering, true, true, shown{true, true}, -1},
		{"its quota, then answers, of which one does not fit", []func(*Standing){tells(nil), sends(some, nil), sends(none, misfit)}, Answering, true, true, shown{true, true}, 8},
		{"two doubtful responses", []func(*Standing){doubt, doubt}, Unknown, false, false, shown{}, -1},
		{"three doubtful responses", []func(*Standing){doubt, doubt, doubt}, Doubted, false, false, shown{}, -1},
		{"three doubtful responses, then an answer", []func(*Standing){doubt, doubt, doubt, sends(none, nil)}, Answering, true, true, shown{}, -1},
		{"three doubtful responses, and an earlier run had answers", []func(*Standing){doubt, doubt, doubt, stored(true)}, Proven, false, false, shown{}, -1},
		{"nothing is stored", []func(*Standing){stored(false)}, Unknown, false, false, shown{}, -1},
		{"another answer is stored", []func(*Standing){stored(true)}, Proven, false, false, shown{}, -1},
		{"a stored answer", []func(*Standing){recalls(some)}, Proven, false, true, shown{false, true}, -1},
		{"a stored answer, then an answer with entries", []func(*Standing){recalls(some), sends(some, nil)}, Answering, true, true, shown{true, true}, -1},
		{"an answer with entries, then a stored one", []func(*Standing){sends(some, nil), recalls(some)}, Answering, true, true, shown{true, true}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(Standing)
			for _, event := range tt.events {
				event(s)
			}
			now, ever := s.Shown(class)
			if s.State() != tt.state || s.Reached() != tt.reached || (s.Known() != nil) != tt.known || (shown{now, ever}) != tt.shown {
				t.Errorf("state %d, reached %t, known %v, shown %t %t", s.State(), s.Reached(), s.Known(), now, ever)
			}
			if left, ok := s.Left(); ok != (tt.left >= 0) || ok && left != tt.left {
				t.Errorf("%d left, %t", left, ok)
			}
			wants, failed := tt.state >= Proven, errors.New("a store that fails")
			got, err := s.Ever(func() (bool, error) { return false, failed })
			if got != wants || (err == nil) != wants {
				t.Errorf("it has ever answered: %t, %v", got, err)
			}
		})
	}
}

// responds is an Attempter that gives one response.
type responds struct {
	answer Answer
	err    error
}

func (r responds) Attempt(context.Context, Request) (Answer, error) { return r.answer, r.err }
