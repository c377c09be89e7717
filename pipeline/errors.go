package pipeline

import (
	"errors"
	"fmt"

	"github.com/bulkcat/bulkcat/client"
)

// Cause is the reason for which a run stopped early. The run can be started again.
type Cause string

// The causes of a stop.
const (
	Interrupted    Cause = "interrupted" // the caller's context ended, or Each returned an error
	QuotaExhausted Cause = "quota"       // the API key has no requests left
	Budget         Cause = "budget"      // the limits allow no more requests
	Deadline       Cause = "deadline"    // Options.FinishBy
	OutageTooLong  Cause = "outage"      // the service was out for longer than the limits allow
)

// StopError says that the run stopped early. All answers are in the store; the same run started again
// asks only for the rest.
type StopError struct {
	Cause Cause
	Err   error // that led to the stop; may be nil
}

func (e *StopError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("stopped early: %s", e.Cause)
	}
	return fmt.Sprintf("stopped early: %s: %v", e.Cause, e.Err)
}

func (e *StopError) Unwrap() error { return e.Err }

// ServiceError says that the service cannot be used with these settings. No record failed; the run
// ended.
type ServiceError struct {
	Input string // of the request that met the error
	Err   *client.Error
}

func (e *ServiceError) Error() string {
	if _, misfit := errors.AsType[*client.ShapeError](e.Err); misfit || e.Err.Page {
		return fmt.Sprintf("the answer for %q cannot be used: %v", e.Input, e.Err)
	}
	return fmt.Sprintf("the service refused %q: %v", e.Input, e.Err)
}

func (e *ServiceError) Unwrap() error { return e.Err }

// AttemptsError says that a record failed: every attempt met a passing failure. The next run asks for the
// record again.
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

// invalidAt adds file and line to the error of an input that cannot be asked; the error of a malformed row
// has them already.
func invalidAt(t *task) error {
	if t.record.Err != nil {
		return t.err
	}
	return fmt.Errorf("%s:%d: %w", t.record.File, t.record.Line, t.err)
}
