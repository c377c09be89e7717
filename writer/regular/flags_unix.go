//go:build unix

package regular

import "golang.org/x/sys/unix"

const (
	nonblock = unix.O_NONBLOCK // opening a pipe does not wait
	nofollow = unix.O_NOFOLLOW
)
