//go:build unix

package client

import "golang.org/x/sys/unix"

// MaxConnections returns most, or the number of connections that the limit of file descriptors allows beside the files of a
// run, if that is lower. An attempt without a file descriptor fails with the class Unsent.
func MaxConnections(most int) int {
	const files = 40 // of the store, the input, the output and the log
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return most
	}
	allowed := int64(min(limit.Cur, 1<<20)) // the limit may be infinite
	return min(most, int(max(allowed-files, allowed/4, 1)))
}
