//go:build unix

package main

import "golang.org/x/sys/unix"

// freeDescriptors is how many connections the limit of file descriptors allows beside the files of a run.
func freeDescriptors() int {
	const files = 40 // of the store, the input, the output and the log
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1 << 20
	}
	free := int64(min(limit.Cur, 1<<20)) - files
	return int(max(free, int64(limit.Cur/4), 1))
}
