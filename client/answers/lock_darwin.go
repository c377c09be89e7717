package answers

import (
	"slices"

	"golang.org/x/sys/unix"
)

const setOwnLock = 90 // F_OFD_SETLK of <sys/fcntl.h>

func systemOf(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil || s.Flags&unix.MNT_LOCAL != 0 && !slices.Contains([]string{"macfuse", "osxfuse"}, unix.ByteSliceToString(s.Fstypename[:])) {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}
