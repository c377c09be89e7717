package process

import (
	"os"
	"syscall"
)

// Attributes returns attributes with which a process gets SIGTERM when its parent dies.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

// peakOf returns the peak resident memory of a process in bytes. It includes the memory of the parent, which the child
// shares until exec, so a program that measures must stay small.
func peakOf(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
