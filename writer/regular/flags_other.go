//go:build !unix

package regular

// These systems have no such flags: the check before opening must suffice.
const (
	nonblock = 0
	nofollow = 0
)
