//go:build !unix

package reader

import (
	"errors"
	"os"
)

// tryLock has no locks to offer.
func tryLock(*os.File) (free bool, err error) { return false, errors.ErrUnsupported }
