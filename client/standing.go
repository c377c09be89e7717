package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Standing is what is known of a service: has it ever answered? The same response means different things by that. A service
// that has answered and now refuses is limited, and is waited for; one that has never answered is probably asked with wrong
// settings. See [State] for what can be known.
//
// A service has one Standing, which everything that asks the service shares: see [Observe]. It takes note of what the service
// sends. The zero value is that of an unknown service. It is safe for concurrent use.
type Standing struct {
	answering atomic.Bool
	proven    atomic.Bool
	charged   atomic.Int64 // answers, whether they fit or not
	unusable  atomic.Int64 // see Doubt
	told      atomic.Pointer[told]
	known     atomic.Pointer[Request]
	shown     sync.Map // of a classification: true if an answer of this process had entries; false if only an earlier one had
}

// told is what the usage operation has told, and the charged answers before.
type told struct {
	usage   Usage
	charged int64
}

// State sums up a Standing.
type State uint8

// The states. A later one takes the place of those before.
const (
	Unknown   State = iota // the service has sent nothing that tells
	Doubted                // it has sent MostUnusable unusable responses: the settings are probably wrong
	Proven                 // it has answered before this process began: address and key were right
	Answering              // it has answered this process
)

// MostUnusable is how many unusable responses, without an answer, show that the settings are wrong. They may be charged, so
// no more requests are in flight before the first answer.
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

// Reached reports whether the address is right: the service has answered this process, or has told its quota.
func (s *Standing) Reached() bool { return s.answering.Load() || s.told.Load() != nil }

// Ever reports whether the service has ever answered. Unless that is known, it asks stored, which reports whether an outcome of
// the service is stored. The error is that of stored.
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

// Known returns a request that the service has answered, and which can be repeated to test the service; nil for none.
func (s *Standing) Known() *Request { return s.known.Load() }

// Shown reports whether the service has given entries in a classification: to this process, or ever as far as is known.
func (s *Standing) Shown(classification string) (now, ever bool) {
	v, ever := s.shown.Load(classification)
	return ever && v.(bool), ever
}

// Charged returns the number of requests that the service has answered, whether the answers fit or not.
func (s *Standing) Charged() int64 { return s.charged.Load() }

// Left returns the quota that the service told last, less one request for each answer since; false if the service has told
// none, or has no bound.
func (s *Standing) Left() (left int64, isNumber bool) {
	t := s.told.Load()
	if t == nil {
		return 0, false
	}
	left, isNumber = t.usage.Requests()
	return left - (s.Charged() - t.charged), isNumber
}

// Told returns what the usage operation told last; false if it has never answered.
func (s *Standing) Told() (Usage, bool) {
	if t := s.told.Load(); t != nil {
		return t.usage, true
	}
	return Usage{}, false
}

// Doubt takes note of a response that no service of this kind sends, and reports whether there were MostUnusable of them.
func (s *Standing) Doubt() bool { return s.unusable.Add(1) >= MostUnusable }

// Recall takes note of an answer that is stored.
func (s *Standing) Recall(r Request, a Answer) {
	s.proven.Store(true)
	s.learn(r, a, false)
}

// Observe returns the Standing of the service that a Categorizer asks, and the Categorizer and its usage operation, which may
// be nil, so that the Standing takes note of their responses. Those of an HTTP client and a Diagnoser are returned as they are.
func Observe(c Categorizer, usage func(context.Context) (Usage, error)) (*Standing, Categorizer, func(context.Context) (Usage, error)) {
	switch c := c.(type) {
	case *HTTP:
		return &c.standing, c, usage
	case *Diagnoser:
		return c.standing, c, usage
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
	Categorizer
	standing *Standing
}

func (o observed) Categorize(ctx context.Context, r Request) (Answer, error) {
	answer, err := o.Categorizer.Categorize(ctx, r)
	o.standing.note(r, answer, err)
	return answer, err
}

// note takes note of an attempt.
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

// askUsage asks the usage operation, and takes note of the answer.
func (s *Standing) askUsage(ctx context.Context, usage func(context.Context) (Usage, error)) (Usage, error) {
	charged := s.Charged()
	u, err := usage(ctx)
	if err == nil {
		s.told.Store(&told{u, charged})
	}
	return u, err
}
