package flow

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// silence is the time without any response of a service, before its first answer ever. A service that has answered
// before is waited for: see package limits. One that never has, and does not respond, is probably not at this address.
type silence struct {
	mu    sync.Mutex
	since time.Time // of the first attempt without a response; zero after a response
	known bool      // the service is waited for without end: it has answered an earlier run, or told its quota
}

// mostSilence is long enough for a service, a proxy or a network that is being started.
const mostSilence = time.Minute

// UnreachableError says that a service has never answered, in this run or an earlier run, and does not respond.
type UnreachableError struct {
	Service string
	Silent  time.Duration
	Err     *client.Error // of the last attempt
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s has never answered, and has not responded for %v, last error: %v", e.Service, e.Silent.Round(time.Second), e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// checkSilence notes an attempt that got no answer. The error is an *UnreachableError, or that of the store.
func (r *run) checkSilence(now time.Time, e *client.Error) error {
	s := &r.silence
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.known || r.rejections.answered.Load() || r.options.Reached || r.options.KeepGoing:
		return nil
	case !isSilent(e):
		s.since = time.Time{}
		return nil
	case s.since.IsZero():
		s.since = now
	}
	silent := now.Sub(s.since)
	if silent < mostSilence {
		return nil
	}
	var storeErr error
	if s.known, storeErr = r.isKnown(); s.known || storeErr != nil {
		return storeErr
	}
	return &UnreachableError{Service: r.options.SourceName, Silent: silent, Err: e}
}

// end notes that the service has told its quota.
func (s *silence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = true
}

// responds reports whether the service is known: it has answered, or told its quota.
func (r *run) responds() bool {
	s := &r.silence
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known || r.rejections.answered.Load()
}

// isSilent reports whether an attempt got no response, or a page that no service of this kind sends, such as that of a
// captive portal.
func isSilent(e *client.Error) bool {
	return e.Class == client.Transient && (e.Status == 0 || e.Label() == malformed)
}

// errFound ends a scan of the store.
var errFound = errors.New("found")

// neverAnswered reports whether the service has given no answer, neither in this run nor in an earlier one.
func (r *run) neverAnswered() (bool, error) {
	if r.rejections.answered.Load() || r.rejections.known.Load() != nil {
		return false, nil
	}
	known, err := r.isKnown()
	return !known, err
}

// isKnown reports whether the service has answered before: the store has an outcome.
func (r *run) isKnown() (bool, error) { return HasAnswers(r.Store, r.options.SourceName) }

// HasAnswers reports whether a store, which may be nil, has an outcome of a service.
func HasAnswers(store *answers.Store, source string) (bool, error) {
	if store == nil {
		return false, nil
	}
	err := store.Scan(func(s answers.Stored) error {
		if s.Source == source {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
