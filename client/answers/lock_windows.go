package answers

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

func lockByte(f *os.File, at int64) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, overlapped(at))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlockByte(f *os.File, at int64) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, overlapped(at))
}

func overlapped(at int64) *windows.Overlapped {
	return &windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
}

func systemOf(folder string) string {
	volume := filepath.VolumeName(folder)
	name, err := windows.UTF16PtrFromString(volume + `\`)
	if err == nil && windows.GetDriveType(name) == windows.DRIVE_REMOTE {
		return "network drive"
	}
	return ""
}
