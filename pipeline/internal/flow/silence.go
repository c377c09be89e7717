package flow

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// silence is the time without a response from a service that has never answered. Such a service is probably not at this address.
// A run waits for a service that has answered before: see package limits.
type silence struct {
	mu    sync.Mutex
	since time.Time // of the first attempt without a response; zero after a response
}

const (
	// mostSilence is the silence that ends a run. A service, a proxy or a network starts within that time.
	mostSilence = time.Minute

	// mostRefused is mostSilence if nothing listens at the address, or the host has no address: the usual cause is a mistyped
	// address, and not a service that is being started.
	mostRefused = 12 * time.Second
)

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
	if r.standing.Reached() || r.options.KeepGoing {
		return nil
	}
	if e.Timeout() { // see checkTimeout
		return nil
	}
	silent := r.silence.note(now, isSilent(e))
	if silent < mostRefused || silent < mostSilence && !isWrongAddress(e) {
		return nil
	}
	if ever, err := r.everAnswered(); ever || err != nil {
		return err
	}
	return &UnreachableError{Service: r.options.SourceName, Silent: silent, Err: e}
}

const (
	severalTimeouts = 3 // timeouts in a row before a warning
	mostTimeouts    = 9 // timeouts in a row that end a run without any answer
)

// checkTimeout warns of a timeout that is too short. If the service has never answered, mostTimeouts in a row with a timeout that
// no longer grows end the run: requests that are cut off may be charged.
func (r *run) checkTimeout(t *task, e *client.Error) error {
	slow, ok := errors.AsType[*client.TimeoutError](e.Err)
	if !ok {
		return nil
	}
	switch given := slow.Next == slow.Timeout; {
	case !given && slow.InARow%severalTimeouts == 0:
		r.Log.Warn("the service does not answer within the timeout, several times in a row: the timeout grows", "timeout", slow.Timeout.String(), "next", slow.Next.String())
	case given && slow.InARow == severalTimeouts && !r.slow.Swap(true):
		r.Log.Warn("the service does not answer within the timeout, several times in a row; if it is slow, a longer timeout helps", "timeout", slow.Timeout.String())
	case given && slow.InARow >= mostTimeouts && time.Since(slow.Since) >= 2*slow.Timeout && !r.options.KeepGoing:
		if ever, err := r.everAnswered(); !ever || err != nil {
			return cmp.Or[error](err, &ServiceError{Input: t.Request.Input, Err: e})
		}
	}
	return nil
}

// refusedOnWindows is WSAECONNREFUSED, which Windows returns instead of syscall.ECONNREFUSED. Other systems have no such number.
const refusedOnWindows = syscall.Errno(10061)

// isWrongAddress reports whether an attempt failed as it does at a mistyped address.
func isWrongAddress(e *client.Error) bool {
	dns, unknown := errors.AsType[*net.DNSError](e.Err)
	return unknown && dns.IsNotFound || e.Unreached() && (errors.Is(e.Err, syscall.ECONNREFUSED) || errors.Is(e.Err, refusedOnWindows))
}

// note notes an attempt, and returns how long the silence has lasted.
func (s *silence) note(now time.Time, silent bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !silent:
		s.since = time.Time{}
		return 0
	case s.since.IsZero():
		s.since = now
	}
	return now.Sub(s.since)
}

// isSilent reports whether an attempt got no response, or a page that no service of this kind sends, such as the page of a
// captive portal.
func isSilent(e *client.Error) bool {
	return e.Class == client.Transient && (e.Status == 0 || e.Label() == malformed)
}

// everAnswered reports whether the service has ever answered, by its Standing or the store.
func (r *run) everAnswered() (bool, error) {
	return r.standing.Ever(func() (bool, error) { return r.Store.Has(r.options.SourceName) })
}
