package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Standing records whether a service has ever answered. The meaning of a response depends on that: if a service has answered
// before and now refuses, it is limited, and the run waits. If it has never answered, the settings are probably wrong. See
// [State].
//
// All users of a service share one Standing, which records the responses: see [Observe]. The zero value is the Standing of an
// unknown service. It is safe for concurrent use.
type Standing struct {
	answering atomic.Bool
	proven    atomic.Bool
	charged   atomic.Int64 // number of answers, including answers of an unexpected shape
	unusable  atomic.Int64 // see Doubt
	told      atomic.Pointer[told]
	known     atomic.Pointer[Request]
	shown     sync.Map // by classification: true if this process got an answer with entries; false if only an earlier process did
}

// told is the last usage, and the number of charged answers before it.
type told struct {
	usage   Usage
	charged int64
}

// State is the summary of a Standing.
type State uint8

// The states. A Standing has the last state that applies.
const (
	Unknown   State = iota // the service has neither answered nor sent MostUnusable unusable responses
	Doubted                // the service has sent MostUnusable unusable responses: the settings are probably wrong
	Proven                 // the service has answered an earlier process: address and key were right
	Answering              // the service has answered this process
)

// MostUnusable is the number of unusable responses without an answer that shows that the settings are wrong. Unusable responses
// may be charged, so MostUnusable also bounds the requests in flight before the first answer.
const MostUnusable = 3

// State returns the state of the service.
func (s *Standing) State() State {
	switch {
	case s.answering.Load():
		return Answering
	case s.proven.Load():
		return Proven
	case s.unusable.Load() >= MostUnusable:
		return Doubted
	}
	return Unknown
}

// Reached reports whether the address is right: the service has answered a request or the usage operation of this process.
func (s *Standing) Reached() bool { return s.answering.Load() || s.told.Load() != nil }

// Ever reports whether the service has ever answered. If the Standing does not know this, Ever calls stored, which reports
// whether an outcome of the service is stored. The error comes from stored.
func (s *Standing) Ever(stored func() (bool, error)) (bool, error) {
	if s.State() >= Proven {
		return true, nil
	}
	has, err := stored()
	if has {
		s.proven.Store(true)
	}
	return has, err
}

// Known returns a request that the service has answered, to be repeated as a test; nil for none.
func (s *Standing) Known() *Request { return s.known.Load() }

// Shown reports whether an answer in a classification had entries: in this process (now), and in this or an earlier one (ever).
func (s *Standing) Shown(classification string) (now, ever bool) {
	v, ever := s.shown.Load(classification)
	return ever && v.(bool), ever
}

// Charged returns the number of answers, including answers of an unexpected shape.
func (s *Standing) Charged() int64 { return s.charged.Load() }

// Left returns the last known quota, less one request for each answer since; false if the quota is unknown or unlimited.
func (s *Standing) Left() (left int64, isNumber bool) {
	t := s.told.Load()
	if t == nil {
		return 0, false
	}
	left, isNumber = t.usage.Requests()
	return left - (s.Charged() - t.charged), isNumber
}

// Told returns the last answer of the usage operation; false if there is none.
func (s *Standing) Told() (Usage, bool) {
	if t := s.told.Load(); t != nil {
		return t.usage, true
	}
	return Usage{}, false
}

// Doubt records a response that no Categorization Service sends, and reports whether there were MostUnusable such responses.
func (s *Standing) Doubt() bool { return s.unusable.Add(1) >= MostUnusable }

// Recall records a stored answer.
func (s *Standing) Recall(r Request, a Answer) {
	s.proven.Store(true)
	s.learn(r, a, false)
}

// Observe returns the Standing of an Attempter's service, and the Attempter and its usage operation wrapped so that the
// Standing records their responses. usage may be nil. An HTTP has a Standing, and is not wrapped.
func Observe(c Attempter, usage func(context.Context) (Usage, error)) (*Standing, Attempter, func(context.Context) (Usage, error)) {
	switch c := c.(type) {
	case *HTTP:
		return &c.standing, c, usage
	case observed:
		return c.standing, c, usage
	}
	s := new(Standing)
	if usage == nil {
		return s, observed{c, s}, nil
	}
	return s, observed{c, s}, func(ctx context.Context) (Usage, error) { return s.askUsage(ctx, usage) }
}

type observed struct {
	Attempter
	standing *Standing
}

func (o observed) Attempt(ctx context.Context, r Request) (Answer, error) {
	answer, err := o.Attempter.Attempt(ctx, r)
	o.standing.note(r, answer, err)
	return answer, err
}

// note records an attempt.
func (s *Standing) note(r Request, a Answer, err error) {
	if _, misfit := errors.AsType[*ShapeError](err); err == nil || misfit {
		s.charged.Add(1)
	}
	if err == nil {
		s.answering.Store(true)
		s.learn(r, a, true)
	}
}

func (s *Standing) learn(r Request, a Answer, now bool) {
	switch was, ever := s.Shown(r.Classification); {
	case len(a.Entries) == 0:
	case now && !was:
		s.shown.Store(r.Classification, true)
	case !ever:
		s.shown.LoadOrStore(r.Classification, false)
	}
	if s.known.Load() == nil {
		s.known.CompareAndSwap(nil, &r)
	}
}

// askUsage asks the usage operation, and records the answer.
func (s *Standing) askUsage(ctx context.Context, usage func(context.Context) (Usage, error)) (Usage, error) {
	charged := s.Charged()
	u, err := usage(ctx)
	if err == nil {
		s.told.Store(&told{u, charged})
	}
	return u, err
}
