//go:build !linux

package process

import (
	"os"
	"syscall"
)

// Attributes returns nil: only Linux tells a child that its parent has died.
func Attributes() *syscall.SysProcAttr { return nil }

// peakOf returns 0: other systems have no common way to measure the peak memory.
func peakOf(*os.ProcessState) int64 { return 0 }
