package pipeline

import (
	"fmt"

	"github.com/bulkcat/bulkcat/client"
)

// Cause is why a run stopped before its end, resumable.
type Cause string

// The causes of a stop.
const (
	Interrupted    Cause = "interrupted" // the caller's context ended
	QuotaExhausted Cause = "quota"       // the account has nothing left
	Budget         Cause = "budget"      // the run's allowance is used up
	Deadline       Cause = "deadline"    // the time to finish by has come
	OutageTooLong  Cause = "outage"      // the service has been out for too long
)

// StopError says that the run stopped early. All answers are in the store; the same
// run started again asks only what is missing.
type StopError struct {
	Cause Cause
	Err   error // what led to it; may be nil
}

func (e *StopError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("stopped early: %s", e.Cause)
	}
	return fmt.Sprintf("stopped early: %s: %v", e.Cause, e.Err)
}

func (e *StopError) Unwrap() error { return e.Err }

// ServiceError says that the service cannot be used as configured. No record is to
// blame, so none failed; the run ended.
type ServiceError struct {
	Input string // the request that showed it
	Err   *client.Error
}

func (e *ServiceError) Error() string {
	return fmt.Sprintf("the service refused %q: %v", e.Input, e.Err)
}

func (e *ServiceError) Unwrap() error { return e.Err }

// AttemptsError says that a record failed: every attempt met passing trouble. The next
// run asks it again.
type AttemptsError struct {
	Attempts int
	Err      error // of the last attempt
}

func (e *AttemptsError) Error() string {
	return fmt.Sprintf("gave up after %d attempts: %v", e.Attempts, e.Err)
}

func (e *AttemptsError) Unwrap() error { return e.Err }

// NoStoreError says that an offline run has no place to look for stored answers: the output is a stream,
// and no store is named.
type NoStoreError struct {
	Output string
}

func (e *NoStoreError) Error() string {
	return fmt.Sprintf("there are no stored answers to write %s from", e.Output)
}

// invalidAt names the place of a record whose input cannot be asked; a malformed row
// names its own.
func invalidAt(t *task) error {
	if t.record.Err != nil {
		return t.err
	}
	return fmt.Errorf("%s:%d: %w", t.record.File, t.record.Line, t.err)
}
