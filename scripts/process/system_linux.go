package process

import (
	"os"
	"syscall"
)

// Attributes send SIGTERM when the program that starts the process dies.
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
