//go:build !unix

package regular

// These systems open neither pipes nor links in another way: the look before must do.
const (
	nonblock = 0
	nofollow = 0
)
