package process

import "syscall"

// Attributes send SIGTERM when the program that starts the process dies.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
