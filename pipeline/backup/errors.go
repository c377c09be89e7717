package backup

import (
	"fmt"
	"time"
)

// TakenError says that a place has the copy of another store, or that another machine has restored this store and
// copies it now.
type TakenError struct {
	Place   string
	Dir     string // of this store
	Foreign bool   // it is the copy of another store
	Host    string // that owns the copy
	Updated time.Time
}

func (e *TakenError) Error() string {
	owner := fmt.Sprintf("written on host %s at %s", e.Host, e.Updated.Format(time.RFC3339))
	if e.Foreign {
		return fmt.Sprintf("%s has the copy of another store, %s, and the store %s is not copied there: remove the store to begin from that copy, or name another place", e.Place, owner, e.Dir)
	}
	return fmt.Sprintf("%s belongs to another store that was restored from it, %s, and the store %s is not copied there: remove the store to begin from that copy, or name another place", e.Place, owner, e.Dir)
}

// OptionName returns "backup.Place", the option that chooses the place.
func (e *TakenError) OptionName() string { return "backup.Place" }

// ListError says that the list of a copy cannot be used.
type ListError struct {
	Path string
	Err  error
}

func (e *ListError) Error() string {
	return fmt.Sprintf("%s is no list of a copy that this bulkcat can read: %v: name another place", e.Path, e.Err)
}

func (e *ListError) Unwrap() error { return e.Err }

// OptionName returns "backup.Place", the option that chooses the place.
func (e *ListError) OptionName() string { return "backup.Place" }

// DamageError says that an object is not what the list says.
type DamageError struct {
	Path string
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the copy is damaged, %s: %v: restore an earlier version of the object, or go on without the copy and name another place", e.Path, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }
