package flow

import (
	"errors"
	"fmt"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// StopError says that the run stopped early. All answers are stored. The same run, started again, asks only for the rest.
type StopError struct {
	Cause account.Cause
	Err   error // the error that stopped the run; may be nil
}

func (e *StopError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("stopped early: %s", e.Cause)
	}
	return fmt.Sprintf("stopped early: %s: %v", e.Cause, e.Err)
}

func (e *StopError) Unwrap() error { return e.Err }

// errInterrupted is the error of a run that the caller stops.
var errInterrupted = &StopError{Cause: account.Interrupted}

// EndingOf returns the ending of a run with this error; nil is Complete.
func EndingOf(err error) account.Ending {
	if err == nil {
		return account.Complete
	}
	if stop, stopped := errors.AsType[*StopError](err); stopped {
		return account.Ending(stop.Cause)
	}
	return account.Failed
}

// ServiceError says that the service cannot be used with these settings. The run ended, and no record has the status failed.
type ServiceError struct {
	Input string // of the request that met the error
	Err   *client.Error
}

func (e *ServiceError) Error() string {
	if _, misfit := errors.AsType[*client.ShapeError](e.Err); misfit || e.Err.Page {
		return fmt.Sprintf("the answer for %q cannot be used: %v", e.Input, e.Err)
	}
	if slow, ok := errors.AsType[*client.TimeoutError](e.Err); ok {
		return fmt.Sprintf("the service has never answered, %d times in a row within the timeout: %v", slow.InARow, e.Err)
	}
	if e.Err.Status == 0 {
		return fmt.Sprintf("the service cannot be asked for %q: %v", e.Input, e.Err)
	}
	return fmt.Sprintf("the service refused %q: %v", e.Input, e.Err)
}

func (e *ServiceError) Unwrap() error { return e.Err }

// AttemptsError says that a record failed: every attempt ended with a transient failure. The next run asks for the record again.
type AttemptsError struct {
	Attempts int
	Err      error // of the last attempt
}

func (e *AttemptsError) Error() string {
	return fmt.Sprintf("gave up after %d attempts: %v", e.Attempts, e.Err)
}

func (e *AttemptsError) Unwrap() error { return e.Err }
