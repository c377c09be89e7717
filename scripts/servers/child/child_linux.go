// Package child has the attributes of child processes.
package child

import "syscall"

// Attributes let the kernel send a signal to the child when the test process dies, so that
// nothing is left behind when a test is killed.
func Attributes(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
