package answers

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func mountSmall(dir string, size int) error {
	return unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size))
}

func remount(dir string, size int) error {
	return unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprint("size=", size))
}

func unmount(dir string) error { return unix.Unmount(dir, 0) }
