// Package socket recognizes the errors of connections on all systems.
package socket

import (
	"errors"
	"runtime"
	"syscall"
)

// onWindows are the error numbers of Windows (WSAECONNREFUSED and so on). On Windows, the numbers of package syscall are
// invented, and no error of a connection equals them.
var onWindows = map[syscall.Errno]syscall.Errno{
	syscall.EMFILE:        10024,
	syscall.EADDRNOTAVAIL: 10049,
	syscall.ENETUNREACH:   10051,
	syscall.ENOBUFS:       10055,
	syscall.ECONNREFUSED:  10061,
	syscall.EHOSTUNREACH:  10065,
}

// Is reports whether err is, or wraps, the error of a connection that package syscall calls number.
func Is(err error, number syscall.Errno) bool {
	return errors.Is(err, number) || runtime.GOOS == "windows" && errors.Is(err, onWindows[number])
}
